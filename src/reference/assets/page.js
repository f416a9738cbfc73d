// The scripts of the page: copy buttons, one language for all examples, the current chapter, and "Try it".
import { open } from './console.js'

function button(text, act) {
  const element = document.createElement('button')
  element.type = 'button'
  element.textContent = text
  element.addEventListener('click', () => act(element))
  return element
}

async function copy(element) {
  await navigator.clipboard.writeText(element.closest('figure').querySelector('code').textContent)
  element.textContent = 'Copied'
  setTimeout(() => {
    element.textContent = 'Copy'
  }, 2000)
}

/** The example of history has recent days, here and in the console: those in the document are the same forever. */
const history = document.getElementById('operation-getHistory')
const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
Object.assign(history.dataset, { from: day(2), to: day(1) })
for (const text of history.querySelectorAll('.samples .s'))
  text.textContent = text.textContent.replace(/\b(from|to)=[\d-]+/g, (_, name) => `${name}=${history.dataset[name]}`)

if (navigator.clipboard) {
  for (const caption of document.querySelectorAll('figure.code figcaption')) caption.append(button('Copy', copy))
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.samples input')) return
  const { top } = target.getBoundingClientRect()
  for (const input of document.querySelectorAll(`.samples input[value=${target.value}]`)) input.checked = true
  // Examples above have become longer or shorter.
  scrollBy({ top: target.getBoundingClientRect().top - top, behavior: 'instant' })
})

const navigation = document.getElementById('navigation')
navigation.addEventListener('click', ({ target }) => {
  if (target.closest('a') && navigation.matches(':popover-open')) navigation.hidePopover()
})

const links = new Map([...navigation.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]))
const places = [...document.querySelectorAll('main > section, .operation')]
let current

/** A link scrolls its chapter to just below the header, whatever the size of the text. */
const headerHeight = 2 * document.querySelector('.top').offsetHeight

/** Marks the link of the last chapter or operation that begins near the top; at the end of the page, the last in view. */
function markCurrent() {
  const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1
  const line = isEnd ? innerHeight : headerHeight
  const place = places.findLast((one) => one.getBoundingClientRect().top < line) ?? places[0]
  const link = links.get(place.id)
  if (!link || link === current) return
  current?.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'true')
  current = link
  const { top, bottom } = link.getBoundingClientRect()
  if (top < 80 || bottom > innerHeight) navigation.scrollTop += top - innerHeight / 2
}

let isMarking = false
document.addEventListener('scroll', () => {
  if (isMarking) return
  isMarking = true
  requestAnimationFrame(() => {
    isMarking = false
    markCurrent()
  })
})
markCurrent()

for (const endpoint of document.querySelectorAll('.operation .endpoint')) {
  const element = button('Try it', () => open(endpoint.closest('.operation')))
  element.className = 'try'
  element.setAttribute('aria-expanded', 'false')
  element.setAttribute('aria-label', `Try it: ${endpoint.closest('.operation').querySelector('h3').textContent}`)
  endpoint.append(element)
}
