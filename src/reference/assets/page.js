// The scripts of the page: the colour scheme, the copy buttons, and the interactive reference, loaded when it is near the viewport.

const dark = matchMedia('(prefers-color-scheme: dark)')
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyScheme)
applyScheme()

/** The URL of the API, derived from the URL of this page. */
const base = new URL('.', location.href).href.replace(/\/$/, '')

function addCopyButtons() {
  if (!navigator.clipboard) return
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    figure.querySelector('figcaption').append(button)
  }
}

/** The day so many days ago, as YYYY-MM-DD. */
const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

/** Initial values of "Try it out": recent days where `from` and `to` are required, no filter where they are optional. */
function withFreshExamples(spec) {
  for (const { get: operation } of Object.values(spec.paths)) {
    for (const parameter of operation?.parameters ?? []) {
      if (parameter.name !== 'from' && parameter.name !== 'to') continue
      if (parameter.required) parameter.example = day(parameter.name === 'from' ? 2 : 1)
      else delete parameter.example
    }
  }
  return { ...spec, servers: [{ url: base }] }
}

function script(src) {
  return new Promise((done, failed) => {
    const element = document.createElement('script')
    element.src = src
    element.onload = done
    element.onerror = failed
    document.head.append(element)
  })
}

/** Swagger UI shows "Execute" before it has resolved the operation; pressed then, it fails and stays disabled. */
const executeWhenResolved = () => ({
  wrapComponents: {
    execute:
      (Execute, { React }) =>
      (props) =>
        props.operation.has('responses') ? React.createElement(Execute, props) : null,
  },
})

async function showOperations(element) {
  const { bundle, demo } = document.body.dataset
  const [response] = await Promise.all([fetch('openapi.json'), script(bundle)])
  const spec = withFreshExamples(await response.json())
  const ui = window.SwaggerUIBundle({
    spec,
    domNode: element,
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [executeWhenResolved],
    layout: 'BaseLayout',
    validatorUrl: null,
    syntaxHighlight: { activated: true, theme: 'tomorrow-night' },
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    onComplete: () => {
      if (demo) ui.preauthorizeApiKey('demoToken', demo)
      element.dataset.state = 'ready'
    },
  })
}

function whenNear(element, act) {
  const watch = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return
      watch.disconnect()
      act()
    },
    { rootMargin: '1200px' },
  )
  watch.observe(element)
}

addCopyButtons()
const operations = document.getElementById('operations')
whenNear(operations, () =>
  showOperations(operations).catch(() => {
    operations.textContent = 'The reference could not be loaded. Reload the page to try again.'
  }),
)
