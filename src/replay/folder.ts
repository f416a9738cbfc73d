/** A folder of exchanges: one account, described by its manifest. */
import { isUtf8 } from 'node:buffer'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { type Exchange, fileNameOf, format, parse, parseExchange } from './exchange.js'

const Manifest = Type.Object(
  {
    about: Type.String(),
    email: Type.String({ pattern: '@example\\.com$' }),
    origin: Type.Enum(['invented', 'recorded']),
    /** Of the secret of the recording. */
    fingerprint: Type.Optional(Type.String()),
    oddities: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)
type Manifest = Static<typeof Manifest>

/** The recording of one account: its exchanges in file-name order. */
export type Folder = { name: string; manifest: Manifest; exchanges: Exchange[] }

const manifestShape = Compile(Manifest)
export const manifestFile = 'account.json'

/**
 * Reads an account's folder, files in name order.
 * @throws Error naming the first file that is not a valid exchange or has the name of another one, or a manifest that is missing or invalid.
 */
export async function readFolder(path: string): Promise<Folder> {
  const { manifest, files } = await readFiles(path)
  for (const { name, expected } of files) {
    if (name !== expected)
      throw new Error(`${join(path, name)}: expected the name ${expected}, which --format gives it; found ${name}`)
  }
  return { name: basename(resolve(path)), manifest, exchanges: files.map(({ exchange }) => exchange) }
}

/** Rewrites the files of a folder that differ from their canonical layout or name. @returns the new names. @throws Error as `readFolder`. */
export async function formatFolder(path: string): Promise<string[]> {
  const { files } = await readFiles(path)
  for (const [at, { name, expected }] of files.entries()) {
    const other = files.slice(0, at).find((one) => one.expected === expected)
    if (other !== undefined)
      throw new Error(`${join(path, name)}: expected a request of its own, found that of ${other.name}`)
  }
  const changed = files.filter(({ name, expected, text, canonical }) => name !== expected || text !== canonical)
  const kept = new Set(files.map(({ expected }) => expected))
  for (const { expected, canonical } of changed) await replaceFile(join(path, expected), canonical)
  for (const { name } of changed) if (!kept.has(name)) await rm(join(path, name))
  return changed.map(({ expected }) => expected)
}

/** Names the file in an error that does not, such as that of values nested too deep. */
const naming = (file: string) => (error: Error) => {
  throw error.message.includes(file) ? error : new Error(`${file}: ${error.message}`)
}

/** The manifest of a folder; undefined where there is none. */
async function readManifest(path: string): Promise<Manifest | undefined> {
  const file = join(path, manifestFile)
  const read = async () => parse(file, await readFile(file, 'utf8'), manifestShape).value
  return read().catch((error: NodeJS.ErrnoException) =>
    /^(ENOENT|ENOTDIR|EISDIR)$/.test(error.code ?? '') ? undefined : naming(file)(error),
  )
}

async function readFiles(path: string) {
  const manifest = await readManifest(path)
  if (manifest === undefined) throw new Error(`${path} is not a folder with an ${manifestFile}`)
  const entries = (await readdir(path, { withFileTypes: true })).filter((entry) => !entry.isDirectory())
  const names = entries
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.json') && name !== manifestFile)
    .sort()
  const read = async (name: string) => {
    const bytes = await readFile(join(path, name))
    // Its other letters would be lost with `--format`.
    if (!isUtf8(bytes)) throw new Error('expected a file in UTF-8')
    const text = bytes.toString()
    const exchange = parseExchange(join(path, name), text)
    return { name, expected: fileNameOf(exchange), text, canonical: format(exchange), exchange }
  }
  const files = await Promise.all(names.map((name) => read(name).catch(naming(join(path, name)))))
  return { manifest, files }
}

/**
 * The manifest of a folder to record into; undefined where there is none.
 * @throws Error when the folder is invented, or has the invented values of another secret: its ids and positions would not fit.
 */
export async function readOwnManifest(path: string, fingerprint: string | undefined): Promise<Manifest | undefined> {
  const stored = await readManifest(path)
  if (stored?.origin === 'invented') throw new Error(`${path} is invented: record under another name (--as)`)
  if (stored !== undefined && stored.fingerprint !== fingerprint)
    throw new Error(
      `${path} was recorded with another secret: set RECORD_SECRET as it was set, or record under another name (--as)`,
    )
  return stored
}

/** Writes an exchange into a folder under its own name; the manifest only where there is none. @throws Error as `readOwnManifest`. */
export async function writeExchange(path: string, exchange: Exchange, manifest: Manifest): Promise<void> {
  const stored = await readOwnManifest(path, manifest.fingerprint)
  await mkdir(path, { recursive: true })
  if (stored === undefined) await replaceFile(join(path, manifestFile), format(manifest))
  await replaceFile(join(path, fileNameOf(exchange)), format(exchange))
}

/** A full disk or the end of the process leaves the old file whole. */
async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.new`, text)
    await rename(`${path}.new`, path)
  } finally {
    await rm(`${path}.new`, { force: true })
  }
}
