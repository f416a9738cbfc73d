// The interactive console: one Swagger UI, moved to the operation that is tried, so that it keeps the credentials.

const [baseStyle, ownStyle, bundle] = document.body.dataset.console.split(' ')
const { demo } = document.body.dataset

/** The URL of the API, derived from the URL of this page. */
const base = new URL('.', location.href).href.replace(/\/$/, '')

const dark = matchMedia('(prefers-color-scheme: dark)')
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyScheme)
applyScheme()

function load(name, attributes) {
  return new Promise((done, failed) => {
    const element = Object.assign(document.createElement(name), attributes)
    element.onload = done
    element.onerror = failed
    document.head.append(element)
  })
}

/** The document of one operation, with examples of required parameters only. The page has its errors and headers, so they are left out. */
function only(spec, { method, path, ...days }) {
  const { parameters = [], ...operation } = spec.paths[path][method]
  const shown = {
    ...operation,
    parameters: parameters.map(({ example, ...parameter }) =>
      parameter.required ? { ...parameter, example: days[parameter.name] ?? example } : parameter,
    ),
    tags: ['Try it'],
    responses: { default: { description: '' } },
  }
  return { ...spec, servers: [{ url: base }], paths: { [path]: { [method]: shown } } }
}

/** Only what tries an operation: the standard layout has a `<main>` of its own and repeats the page. */
const layout = ({ React: { createElement } }) => ({
  components: {
    Console: ({ getComponent }) =>
      createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets')),
        createElement(getComponent('AuthorizeBtnContainer', true)),
        createElement(getComponent('operations', true)),
      ),
  },
})

/** Swagger UI shows "Execute" before it has resolved the operation; pressed then, it fails and stays disabled. */
const executeWhenResolved = () => ({
  wrapComponents: {
    execute:
      (Execute, { React }) =>
      (props) =>
        props.operation.has('responses') ? React.createElement(Execute, props) : null,
  },
})

/** Opens the dialog of credentials. Without one, it is about to be removed: until then nothing else can have the focus. */
const modal = (dialog) => (dialog ? dialog.showModal() : setTimeout(() => element.querySelector('.authorize')?.focus()))

/** The labels of all credentials name one id, that of the first. */
function focusOwn(event) {
  if (!event.target.closest('label')) return
  event.preventDefault()
  event.currentTarget.querySelector('input')?.focus()
}

/**
 * Hides credentials as they are typed, and names the controls for screen readers. Without `autoFocus` on each, the dialog opens at its
 * first entry instead of its last.
 */
const controls = ({ React: { createElement } }) => ({
  wrapComponents: {
    authorizationPopup: (Popup) => (props) =>
      createElement(
        'dialog',
        // The "Back" of a phone closes it without a key or click.
        { ref: modal, 'aria-label': 'Credentials', onClose: () => props.authActions.showDefinitions(false) },
        createElement(Popup, props),
      ),
    Input:
      (Input) =>
      ({ autoFocus, ...props }) =>
        createElement(Input, {
          ...props,
          ...(props.id === 'auth-bearer-value' && { type: 'password', autoComplete: 'off', 'aria-label': 'Value' }),
        }),
    JsonSchema_string: (Field) => (props) =>
      createElement('label', { 'aria-label': props.description }, createElement(Field, props)),
    JsonSchema_array: (Fields) => (props) =>
      createElement('div', { role: 'group', 'aria-label': props.description }, createElement(Fields, props)),
    TextArea: (Field) => (props) => createElement('label', { 'aria-label': 'Body' }, createElement(Field, props)),
    HttpAuth: (HttpAuth) => (props) =>
      createElement(
        'div',
        { role: 'group', 'aria-label': props.name, onClick: focusOwn },
        createElement(HttpAuth, props),
      ),
    CloseIcon: (Icon) => () => createElement(Icon, { role: 'img', 'aria-hidden': false, 'aria-label': 'Close' }),
    Button:
      (Button) =>
      ({ 'aria-label': _, ...props }) =>
        createElement(Button, props),
  },
})

const element = document.createElement('div')
Object.assign(element, { id: 'console', role: 'region', ariaLabel: 'Console', tabIndex: -1 })

/** Swagger UI has boxes that only a mouse can scroll, and a heading that skips a level. */
function repair() {
  for (const box of element.querySelectorAll('pre:not([tabindex])')) box.tabIndex = 0
  for (const heading of element.querySelectorAll('h6')) heading.ariaLevel = '5'
}
new MutationObserver(repair).observe(element, { childList: true, subtree: true })

async function start() {
  // Swagger UI would take over all links of the page, and scroll their targets behind the header.
  window.noZensmooth = true
  const [response] = await Promise.all([
    fetch('openapi.json'),
    load('script', { src: bundle }),
    load('link', { rel: 'stylesheet', href: baseStyle }),
    load('link', { rel: 'stylesheet', href: ownStyle }),
  ])
  const { components, ...parts } = JSON.parse(await response.text(), (key, value) =>
    // Swagger UI has no field for items of the format, and warns about it; the definitions describe responses.
    value === 'int64' || key === '$defs' ? undefined : value,
  )
  // Swagger UI resolves all that it is given: with all components, the console opens in two seconds instead of one.
  const { securitySchemes, schemas } = components
  if (!demo) delete securitySchemes.demoToken
  const requests = { securitySchemes, schemas: { CreateKey: schemas.CreateKey } }
  const spec = { ...parts, components: requests, tags: [], webhooks: {} }
  await new Promise((done) => {
    const ui = window.SwaggerUIBundle({
      spec: { ...spec, paths: {} },
      domNode: element,
      presets: [window.SwaggerUIBundle.presets.apis],
      plugins: [layout, executeWhenResolved, controls],
      layout: 'Console',
      validatorUrl: null,
      syntaxHighlight: { activated: true, theme: 'tomorrow-night' },
      docExpansion: 'full',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      onComplete: () => {
        if (demo) ui.preauthorizeApiKey('demoToken', demo)
        done()
      },
    })
    show = (operation) => ui.specActions.updateSpec(JSON.stringify(only(spec, operation)))
  })
}

/** Shows an operation, once Swagger UI has started. */
let show
let starting

const mark = (article, isOpen) => article?.querySelector('.try').setAttribute('aria-expanded', isOpen)

/** Opens the console at an article, or closes it there. */
export async function open(article) {
  const last = element.parentElement
  mark(last, false)
  element.remove()
  if (last === article) return
  mark(article, true)
  article.append(element)
  element.focus()
  element.dataset.state = 'loading'
  if (!starting) element.textContent = ''
  try {
    starting ??= start()
    await starting
    // While it loaded, the reader may have closed it or opened another operation.
    if (element.parentElement !== article) return
    show(article.dataset)
    element.dataset.state = 'ready'
    element.scrollIntoView()
  } catch {
    starting = undefined
    element.textContent = 'The console could not be loaded. Close it and open it again to retry.'
  }
}
