/** The room of the key file: full disks, and how much it takes of one. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keyOwnerOf } from '../../src/auth/credential.js'
import { keepRoom, keyFileIn, lockOf, minFreeBytes } from '../../src/store/key-file.js'
import type { KeyRecord, StoreUnavailable } from '../../src/store/store.js'
import { temporaryFolder } from '../folder.js'
import { Program } from '../process.js'
import { mounting, program, withoutMount } from '../program.js'
import { aKey, anOwner, DAY_MS, embeddedPlace, NOW, opened, storedKey } from './places.js'

t.test('on a full disk no key is acknowledged, existing keys work on, and space heals it', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const record = await storedKey(store)
  // For good: a write in flight after the test would otherwise end the process.
  process.on('SIGXFSZ', () => {})
  // A file that may not grow behaves like a full disk, also where another process fills it during a transaction.
  const limitFiles = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  t.teardown(() => limitFiles('unlimited'))
  limitFiles(String(statSync(join(place.config.dataDir, 'keys.mdb')).size))
  const owner = anOwner()
  const acknowledged: KeyRecord[] = []
  const lost: KeyRecord[] = []
  while (lost.length < 100 && acknowledged.length < 1000) {
    const key = aKey(owner, { createdAt: NOW - acknowledged.length }).record
    const outcome = await store.keys.create(key, 2000, NOW).catch((error: StoreUnavailable) => error)
    if (outcome === 'created') acknowledged.push(key)
    else {
      lost.push(key)
      t.match(outcome, { name: 'StoreUnavailable', cause: { message: /^EFBIG: file too large/ } })
      t.equal(store.up(), false)
      t.equal(await store.keys.find(key.digest, NOW), undefined)
    }
  }
  t.same(await store.keys.list(owner, NOW), acknowledged)
  t.same((await store.keys.use(record.digest, DAY_MS, NOW))?.record, record)
  t.equal(await store.keys.revoke(owner, lost[0]!.id, NOW), false)
  t.equal(await store.keys.create(aKey(record.owner).record, 1, NOW), 'too_many')
  t.equal(store.up(), false, 'neither reads nor writes that change nothing make it whole')

  limitFiles('unlimited')
  t.equal(await store.keys.create(lost[0]!, 2000, NOW), 'created')
  t.equal(store.up(), true)
})

t.test('a disk that refuses writes is noticed, also where there is room, before lmdb ends the process', async (t) => {
  const path = join(t.testdir({ 'keys.mdb': 'x'.repeat(2 * minFreeBytes), 'keys.mdb-lock': '' }), 'keys.mdb')
  const opened = (flags: string) => ({ path, file: openSync(path, flags), lock: openSync(lockOf(path), 'r') })
  t.throws(() => keepRoom(opened('r'), 0), { code: 'EBADF' })
  keepRoom(opened('r+'), 0)
  t.equal(statSync(path).size, 2 * minFreeBytes)
})

t.test('keys work again after lmdb has given up its file: the end of a transaction was not written', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const record = await storedKey(store)
  // lmdb writes it over a descriptor of its own, which writes through.
  const [fd = ''] = readdirSync('/proc/self/fd').filter((one) => {
    const link = `/proc/self/fd/${one}`
    if (!existsSync(link) || !readlinkSync(link).startsWith(place.config.dataDir)) return false
    const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${one}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & constants.O_DSYNC) !== 0
  })
  closeSync(Number(fd))
  t.equal(openSync('/dev/null', 'r'), Number(fd), 'a file that cannot be written is in its place')
  const { record: lost } = aKey(anOwner())
  await t.rejects(store.keys.create(lost, 20, NOW), { name: 'StoreUnavailable' })
  await t.rejects(store.keys.find(record.digest, NOW), { cause: { message: /MDB_PANIC/ } })
  const { dataDir } = place.config
  renameSync(dataDir, `${dataDir}-away`)
  await t.rejects(store.keys.find(record.digest, NOW), { cause: { message: /ENOENT/ } })
  t.notOk(existsSync(dataDir), 'no other file takes its place')
  renameSync(`${dataDir}-away`, dataDir)
  const calls = [store.keys.find(record.digest, NOW), store.keys.find(lost.digest, NOW)]
  t.same(await Promise.all(calls), [record, undefined])
  t.equal(await store.keys.create(lost, 20, NOW), 'created')
  t.same([await store.keys.find(lost.digest, NOW), store.up()], [lost, true])
})

t.test('the key file does not grow with each start that removes expired keys', async (t) => {
  const place = await embeddedPlace(t)
  const path = keyFileIn(place.config.dataDir)
  const sizes: number[] = []
  for (let start = 0; start < 6; start += 1) {
    const now = NOW + start * DAY_MS
    const store = await opened(t, place.config, { clock: () => now })
    sizes.push(statSync(path).size)
    for (let n = 0; n < 40; n += 1)
      await store.keys.create(aKey(anOwner(), { createdAt: now, expiresAt: now + 1 }).record, 20, now)
    await store.close()
  }
  t.ok(sizes[5]! - sizes[2]! < minFreeBytes, sizes.join())
})

t.test('a key file whose verification cannot run is not taken for a damaged one', async (t) => {
  const place = await embeddedPlace(t)
  const record = await storedKey(await place.open())
  t.teardown(() => delete process.env.NODE_OPTIONS)
  for (const ends of ['process.abort()', 'process.exit(1)', 'throw new Error()']) {
    const folder = t.testdir({ 'ends.cjs': `if (/read-key-file/.test(process.argv[1])) ${ends}` })
    process.env.NODE_OPTIONS = `--require=${join(folder, 'ends.cjs')}`
    const { keys } = await place.open()
    t.same(await keys.find(record.digest, NOW), record, ends)
  }
})

/** Each in a container of its own, as far as ids of processes go. */
const apart = ['--pid', '--fork', '--kill-child', process.execPath, program('main.js')]
const withoutUnshare = spawnSync('unshare', [...apart, '--help']).status !== 0 && 'this process may not unshare'

t.test('in processes', async (t) => {
  // The first one waits for ten seconds.
  t.jobs = 2
  t.test('a key file that another container uses is refused with what to do', { skip: withoutUnshare }, async (t) => {
    const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', OPS_PORT: 'off', DATA_DIR: temporaryFolder(t) }
    const first = new Program(t, 'unshare', apart, { env })
    await first.printed(/try: /)
    const second = new Program(t, 'unshare', apart, { env })
    t.equal(await second.exited, 1)
    t.match(
      second.log,
      /Cannot use \S+ \(DATA_DIR\): .*; another container uses it, with the same process id: stop it first$/m,
    )
  })

  t.test('a new store on a full disk is refused with the cause', { skip: withoutMount() }, async (t) => {
    const folder = temporaryFolder(t)
    const script = `mount -t tmpfs -o size=$2 tmpfs "$1" && head -c 64k /dev/zero > "$1/file"; PORT=0 OPS_PORT=off DATA_DIR="$1/data" "$3" "$4"`
    for (const size of ['64k', '72k']) {
      const ended = mounting(script, 'sh', folder, size, process.execPath, program('main.js'))
      t.match(
        ended,
        { status: 1, stderr: `Cannot use ${folder}/data (DATA_DIR): ENOSPC: no space left on device` },
        size,
      )
    }
  })
})

t.test('on an almost full disk with expired keys', { skip: withoutMount() }, async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const [owner, other] = [keyOwnerOf('fleet@example.com'), anOwner()]
  for (let n = 0; n < 100; n += 1) {
    await store.keys.create(aKey(owner).record, 100, NOW)
    await store.keys.create(aKey(other, { expiresAt: 1 }).record, 100, 0)
    await storedKey(store)
  }
  const { id } = await storedKey(store)
  const { dataDir } = place.config
  /** Runs the command of the gateway on a copy of the key file, on a disk with that much room. */
  const keysWith = (room: string, command: string) =>
    mounting(
      `mount -t tmpfs -o size=2m tmpfs /mnt && cp "$1"/* /mnt || exit 9
      head -c $2 /dev/zero > /mnt/room; head -c 2m /dev/zero > /mnt/file; rm /mnt/room
      export DATA_DIR=/mnt node="$3" main="$4"; keys() { "$node" "$main" keys "$@"; }; ${command}`,
      ...['sh', dataDir, room, process.execPath, program('main.js')],
    )

  t.test('keys are listed, and revoking many fails with the cause', async (t) => {
    const ended = keysWith('0', 'keys list && keys purge fleet@example.com --yes')
    t.match(ended, { status: 1, signal: null, stderr: /The key file cannot be used: The disk is full\n$/ })
    t.notMatch(ended.stderr, 'Write error')
    t.match(ended.stdout, / 100$/m)
  })

  t.test('a file that cannot be read is not called damaged: space may heal it', async (t) => {
    const ended = keysWith('0', 'truncate -s 20k /mnt/keys.mdb; head -c 2m /dev/zero >> /mnt/file; keys list')
    t.match(ended, { status: 1, signal: null, stderr: '/mnt/keys.mdb cannot be read while its disk is full' })
  })

  t.test('the expired keys do not fill it at the start, and keys are revoked', async (t) => {
    t.match(keysWith('300k', `keys revoke ${id}`), { status: 0, stdout: /is revoked/ })
  })

  t.test('a creation takes at most half of the space that it requires, and expired keys go bit by bit', async (t) => {
    const size = () => statSync(keyFileIn(dataDir)).size
    let before = 0
    for (let n = 0; n < 20; n += 1) {
      t.equal(await store.keys.create(aKey(other).record, 20, NOW), 'created')
      // The next transaction makes up for what the first one took.
      if (n === 0) before = size()
      if (n === 1) t.ok(size() - before < minFreeBytes / 2, `${size() - before} bytes`)
    }
    t.equal((await store.keys.list(other, 0)).length, 20)
  })
})
