/** Measures the projector against `JSON.parse` on an invented device list: `node projector.js [devices] [rounds]`. */
import { performance } from 'node:perf_hooks'
import { Projector } from '../../src/lib/json-rows/projector.js'
import { Plan } from '../../src/lib/json-rows/projector-plan.js'
import { itemsOf, type Read, read } from '../../src/platform/shape.js'
import { wireDevice, wireGroup } from '../../src/platform/wire.js'
import { deviceList } from './device-list.js'

const CHUNK = 1 << 16
const shapes = [[wireGroup], { items: [wireGroup], data: [wireGroup], status: 'scalar', message: 'scalar' }] as const
const plan = new Plan(shapes, [wireDevice])

const toRow = (row: Read<typeof wireDevice>) => ({
  ...{
    id: row.id,
    name: row.name,
    status: row.online,
    lat: Number(row.lat),
    lng: Number(row.lng),
    speed: Number(row.speed),
    time: row.time,
  },
  ...{
    course: Number(row.course),
    altitude: Number(row.altitude),
    protocol: row.protocol,
    sensors: row.sensors.length,
    moving: row.device_data.min_moving_speed,
  },
})

const translate = (answer: unknown) =>
  itemsOf(answer).flatMap((group) => read([wireDevice], (group as { items: unknown }).items).map(toRow))

/** Projects in chunks; adds the time of each slice to `slices`. */
function project(bytes: Buffer, slices: number[] = []): unknown {
  const projector = new Projector(plan)
  for (let from = 0; from < bytes.length; from += CHUNK) {
    const start = performance.now()
    projector.write(bytes.subarray(from, from + CHUNK))
    slices.push(performance.now() - start)
  }
  return projector.end()
}

const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] as number

/** Milliseconds of processor time, which other processes of the machine disturb less than they do the clock. */
function timed(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const ms = (value: number) => `${value.toFixed(1)} ms`

function large(devices: number, rounds: number): void {
  const bytes = deviceList(devices)
  const times = { parse: [] as number[], parseAll: [] as number[], project: [] as number[], projectAll: [] as number[] }
  const slices: number[] = []
  for (let round = 0; round < rounds + 2; round++) {
    if (round === 2) for (const list of [...Object.values(times), slices]) list.length = 0
    times.parse.push(timed(() => JSON.parse(bytes.toString())))
    times.project.push(timed(() => project(bytes, slices)))
    times.parseAll.push(timed(() => JSON.stringify(translate(JSON.parse(bytes.toString())))))
    times.projectAll.push(timed(() => JSON.stringify(translate(project(bytes)))))
  }
  const sorted = slices.toSorted((a, b) => a - b)
  const row = (name: string, list: number[]) =>
    console.log(`${name.padEnd(34)} median ${ms(median(list))}, best ${ms(Math.min(...list))}`)
  console.log(
    `${devices} devices, ${(bytes.length / 1e6).toFixed(1)} MB, kept ${(JSON.stringify(project(bytes)).length / 1e6).toFixed(1)} MB`,
  )
  row('parse', times.parse)
  row('project', times.project)
  row('parse + translate + serialize', times.parseAll)
  row('project + translate + serialize', times.projectAll)
  console.log(
    `project / (parse + translate + serialize): ${(median(times.project) / median(times.parseAll)).toFixed(2)}`,
  )
  console.log(
    `slice of 64 KiB: median ${ms(median(slices))}, p99 ${ms(sorted[Math.floor(sorted.length * 0.99)] as number)}, max ${ms(sorted.at(-1) as number)}`,
  )
}

/** From which size on it pays. */
function crossover(): void {
  for (const devices of [1, 2, 4, 8, 16, 32, 128, 512]) {
    const bytes = deviceList(devices)
    const times = { parse: [] as number[], project: [] as number[] }
    for (let round = 0; round < 9; round++) {
      const times100 = Math.ceil(2000 / devices)
      const loop = (work: () => unknown) =>
        timed(() => {
          for (let at = 0; at < times100; at++) work()
        }) / times100
      times.parse.push(loop(() => read([wireGroup], JSON.parse(bytes.toString()))))
      times.project.push(loop(() => read([wireGroup], project(bytes))))
    }
    console.log(
      `${devices} devices, ${(bytes.length / 1000).toFixed(1)} kB: parse + read ${median(times.parse).toFixed(4)} ms, project + read ${median(times.project).toFixed(4)} ms`,
    )
  }
}

const devices = Number(process.argv[2] ?? 10000)
large(devices, Number(process.argv[3] ?? 7))
crossover()
