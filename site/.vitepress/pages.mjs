import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** The order of the pages, by a reader's task. Tests read it, too. A folder stands for its pages. */
const order = Object.entries(JSON.parse(readFileSync(`${root}site/pages.json`, 'utf8'))).map(([text, entries]) => [
  text,
  entries.flatMap((entry) => (entry.endsWith('/') ? markdown(entry) : entry))
])

export const pages = order.flatMap(([, files]) => files)

/** Where the site has a page: README.md is the index of its folder. */
export const address = (file) =>
  file.replace('site/decisions', 'docs/adr/index').replace('README', 'index').replace(/\.md$/, '')

export const sidebar = order.map(([text, files]) => ({
  text,
  collapsed: !/^(Start|Guides|Operation)/.test(text),
  items: files.map((file) => ({
    text: readFileSync(root + file, 'utf8').match(/^# (.+)$/m)[1].replaceAll('`', ''),
    link: `/${address(file)}.html`
  }))
}))

function markdown(folder) {
  return readdirSync(root + folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => folder + name)
}
