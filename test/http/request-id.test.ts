/** The request id: a plain one of the caller is kept, anything else is replaced. */
import t from 'tap'
import { gateway, someHash } from '../helper.js'

const hash53 = someHash.slice(7)

t.test('a plain request id is kept; one that is not, or may be a credential, is replaced', async (t) => {
  const { get, log } = await gateway(t)
  const idFor = async (sent: string, credential?: string): Promise<string | null> =>
    (await get('/health', credential, { headers: { 'x-request-id': sent } })).headers.get('x-request-id')
  const secrets = [
    `gps_live_${'ab12'.repeat(12)}`,
    'GPS_LIVE_1',
    'ab12'.repeat(10),
    `request-${'AB12'.repeat(10)}`,
    `${hash53.replaceAll('/', '.')}x1`.replaceAll('.', '_'),
    'dGhpcyBpcyBhIHNlY3JldCBpbiBiYXNlNjQgMTIzNDU2',
  ]
  for (const secret of secrets) {
    t.not(await idFor(secret), secret)
    t.notMatch(log(), secret)
  }
  t.not(await idFor('a-short-token', 'a-short-token'), 'a-short-token', 'the credential of the same request')
  for (const odd of ['a b<script>', 'x'.repeat(65)]) t.not(await idFor(odd), odd)
  const ids = [
    'trace-7f:1.a_b',
    '123e4567-e89b-12d3-a456-426614174000',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'checkout-service-eu-west-1-order-import-0000000001',
  ]
  for (const id of ids) t.equal(await idFor(id, 'demo'), id)
})
