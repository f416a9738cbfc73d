/** How often other work of the thread has its turn. */
import { setImmediate as endOfTurn } from 'node:timers/promises'

/** The result of the work, and the turns of the event loop that it took. @param onTurn called after each of them. */
export async function watched<T>(work: Promise<T>, onTurn = (): void => {}): Promise<[result: T, turns: number]> {
  let [turns, isDone] = [0, false]
  const done = work.finally(() => {
    isDone = true
  })
  for (; !isDone; onTurn()) {
    await endOfTurn()
    turns += 1
  }
  return [await done, turns]
}
