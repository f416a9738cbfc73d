/** A gateway whose platform holds back the responses to requests for a device. */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { gatewayOn, someHash } from '../helper.js'

export const request = (path: string, extra = '', credential = someHash): string =>
  `GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${credential}\r\n${extra}\r\n`

export interface Held {
  id: string
  response: ServerResponse
}

/** A gateway on a platform that holds back each response to `get_devices?id=…` until the test sends it. */
export async function heldGateway(t: Test, env: Record<string, string> = {}) {
  const held: Held[] = []
  const get_devices: RequestListener = (incoming, response) => {
    const id = new URL(incoming.url ?? '', 'http://localhost').searchParams.get('id')
    if (id === null) response.end('[]')
    else held.push({ id, response })
  }
  const parts = await gatewayOn(t, { env }, { get_devices, edit_setup_data: { item: {} } })
  await parts.get('/v1/me', someHash)
  return { ...parts, held }
}

export const send = ({ id, response }: Held): void =>
  void response.end(JSON.stringify([{ title: 'A', items: [{ id: Number(id) }] }]))
