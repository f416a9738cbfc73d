/** Invented addresses: every place on earth has one, always the same. */
import type { Point } from './geometry.js'
import { roll } from './random.js'

const names = ['Mill', 'Station', 'Orchard', 'Harbour', 'Market', 'Chapel', 'Garden', 'Bridge', 'Castle', 'River']
const kinds = ['Street', 'Lane', 'Road', 'Avenue', 'Square']
const cities = ['Norwick', 'Eastbrook', 'Millford', 'Southam', 'Kingsley', 'Westerby']

/** Streets are some 500 m apart, cities 10 km. Undefined without a position. */
export function addressAt({ lat, lng }: Point): string | undefined {
  if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180) || (lat === 0 && lng === 0)) return undefined
  const part = (key: number, perDegree: number) =>
    roll(17, key, Math.floor(lat * perDegree), Math.floor(lng * perDegree))
  const pick = (list: string[], fraction: number) => list[Math.floor(fraction * list.length)]!
  const road = `${pick(names, part(1, 200))} ${pick(kinds, part(2, 200))}`
  const house = 1 + Math.floor(120 * part(3, 5000))
  return `${road} ${house}, ${pick(cities, part(4, 10))}, Sandbox`
}
