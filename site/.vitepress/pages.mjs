import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const docs = (names) => names.split(' ').map((name) => `docs/${name}.md`)
const markdown = (folder) => readdirSync(root + folder).filter((name) => name.endsWith('.md')).map((name) => folder + name)

const examples = ['', 'public-api/', 'llm-proxy/', 'gateway/'].map((name) => `examples/${name}README.md`)

/** The order of the pages, by a reader's task. */
const order = {
  Start: ['README.md', ...docs('getting-started choosing-a-key comparison migration')],
  Guides: docs('programmatic kotlin http concurrency costs plans models clients messaging protocols own-algorithms testing'),
  Recipes: [...markdown('docs/recipes/'), ...examples],
  Operation: [
    ...docs('redis kubernetes native observability dashboard outages regions on-call troubleshooting'),
    ...['monitoring/README.md', 'SECURITY.md']
  ],
  Reference: [...docs('annotation configuration algorithms endpoint'), 'COMPATIBILITY.md', 'CHANGELOG.md'],
  Explanations: [...docs('performance'), ...markdown('benchmarks/'), ...docs('inside')],
  Contributing: ['CONTRIBUTING.md', ...docs('building'), 'CODE_OF_CONDUCT.md'],
  Decisions: ['site/decisions.md', ...markdown('docs/adr/')]
}

export const pages = Object.values(order).flat()

const missing = [...markdown(''), ...markdown('docs/')].filter((page) => !pages.includes(page))
if (missing.length > 0) {
  throw new Error(`site/.vitepress/pages.mjs must list every page (missing: ${missing.join(', ')})`)
}

/** Where the site has a page: README.md is the index of its folder. */
export const address = (file) =>
  file.replace('site/decisions', 'docs/adr/index').replace('README', 'index').replace(/\.md$/, '')

export const sidebar = Object.entries(order).map(([text, files], index) => ({
  text,
  collapsed: index > 3,
  items: files.map((file) => ({
    text: readFileSync(root + file, 'utf8').match(/^# (.+)$/m)[1].replaceAll('`', ''),
    link: `/${address(file)}.html`
  }))
}))
