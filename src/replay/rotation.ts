/** A rotation of the sphere: it moves every position and turns every course, and keeps all distances. */

type Vector = [number, number, number]
type Matrix = [Vector, Vector, Vector]
export type Position = { lat: number; lng: number }

const radians = Math.PI / 180
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const times = (matrix: Matrix, vector: Vector): Vector => [
  dot(matrix[0], vector),
  dot(matrix[1], vector),
  dot(matrix[2], vector),
]

export class Rotation {
  readonly #matrix: Matrix

  /** By three numbers in [0, 1): longitude and tilt of the axis, and an angle of 30 to 330 degrees. */
  constructor([around, up, turn]: Vector) {
    const [z, angle] = [2 * up - 1, (30 + 300 * turn) * radians]
    const flat = Math.sqrt(1 - z * z)
    const [x, y] = [flat * Math.cos(2 * Math.PI * around), flat * Math.sin(2 * Math.PI * around)]
    const [c, s, r] = [Math.cos(angle), Math.sin(angle), 1 - Math.cos(angle)]
    this.#matrix = [
      [c + x * x * r, x * y * r - z * s, x * z * r + y * s],
      [y * x * r + z * s, c + y * y * r, y * z * r - x * s],
      [z * x * r - y * s, z * y * r + x * s, c + z * z * r],
    ]
  }

  position(position: Position): Position {
    const [x, y, z] = times(this.#matrix, upAt(position))
    return { lat: Math.asin(Math.max(-1, Math.min(1, z))) / radians, lng: Math.atan2(y, x) / radians }
  }

  /** Degrees by which a course at a position turns. */
  turnAt(position: Position): number {
    const north = times(this.#matrix, northAt(position))
    const moved = this.position(position)
    return Math.atan2(dot(north, eastAt(moved)), dot(north, northAt(moved))) / radians
  }
}

function upAt({ lat, lng }: Position): Vector {
  const [a, b] = [lat * radians, lng * radians]
  return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)]
}

function northAt({ lat, lng }: Position): Vector {
  const [a, b] = [lat * radians, lng * radians]
  return [-Math.sin(a) * Math.cos(b), -Math.sin(a) * Math.sin(b), Math.cos(a)]
}

function eastAt({ lng }: Position): Vector {
  return [-Math.sin(lng * radians), Math.cos(lng * radians), 0]
}
