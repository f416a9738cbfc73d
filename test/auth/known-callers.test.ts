/** Whose turn a request is. */
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { KnownCallers } from '../../src/auth/known-callers.js'

t.test('the addresses of one IPv6 subscriber are one caller, and no other', async (t) => {
  const callers = new KnownCallers(undefined)
  const of = (remoteAddress: string): string =>
    callers.callerOf({ headers: {}, socket: { remoteAddress } } as unknown as IncomingMessage)
  t.equal(of('2001:db8:1:2::7'), of('2001:db8:1:2:ffff::8'))
  t.not(of('2001:db8:1:2::7'), of('2001:db8:1:3::7'))
  t.not(of('::ffff:192.0.2.7'), of('::ffff:192.0.2.8'))
})
