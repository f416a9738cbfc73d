/** A rotation of the sphere: it moves every position and turns every course, and keeps all distances. */

type Vector = [number, number, number]
export type Position = { lat: number; lng: number }
/** Maps a position to its rotated position, and to the degrees by which a course there turns. */
export type Rotation = (position: Position) => Position & { turn: number }

const radians = Math.PI / 180
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
const eastAt = ({ lng }: Position): Vector => [-Math.sin(lng * radians), Math.cos(lng * radians), 0]
const northAt = (position: Position): Vector => cross(upAt(position), eastAt(position))

function upAt({ lat, lng }: Position): Vector {
  const [a, b] = [lat * radians, lng * radians]
  return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)]
}

/** From three numbers in [0, 1): longitude and latitude of the axis, and an angle of 30 to 330 degrees. */
export function rotationBy([around, up, turn]: Vector): Rotation {
  const axis = upAt({ lat: Math.asin(2 * up - 1) / radians, lng: 360 * around })
  const angle = (30 + 300 * turn) * radians
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  /** Rodrigues' formula. */
  const rotated = (vector: Vector): Vector => {
    const along = dot(axis, vector) * (1 - cos)
    const across = cross(axis, vector)
    const part = (n: 0 | 1 | 2): number => vector[n] * cos + across[n] * sin + axis[n] * along
    return [part(0), part(1), part(2)]
  }
  return (position) => {
    const [x, y, z] = rotated(upAt(position))
    const moved = { lat: Math.asin(Math.max(-1, Math.min(1, z))) / radians, lng: Math.atan2(y, x) / radians }
    const north = rotated(northAt(position))
    return { ...moved, turn: Math.atan2(dot(north, eastAt(moved)), dot(north, northAt(moved))) / radians }
  }
}
