// Fails if a link or an anchor of the built site leads nowhere, or if Javadoc has an internal package.
import { readFileSync, readdirSync } from 'node:fs'
import { root } from './.vitepress/pages.mjs'
const site = `${root}target/site/`
const base = process.env.SITE_BASE ?? '/'
const html = (name) => (name.endsWith('.html') ? readFileSync(site + name, 'utf8') : '')
const files = new Map(readdirSync(site, { recursive: true }).map((name) => [name, html(name)]))
const pages = [...files].filter(([name]) => name.endsWith('.html') && !name.startsWith('javadoc/'))
const wrong = [...files]
  .filter(([name, text]) => name.endsWith('/package-summary.html') && text.includes('>@Internal<'))
  .map(([name]) => `${name} is internal: exclude the package in pom.xml`)
for (const [name, text] of pages) {
  for (const [, link] of text.matchAll(/ (?:href|src)="(?!https?:|data:|mailto:)([^"]*)"/g)) {
    const { pathname, hash } = new URL(link, `http://site${base}${name}`)
    const target = decodeURI(pathname).slice(base.length).replace(/(^|\/)$/, '$1index.html')
    const anchor = hash ? ` id="${decodeURI(hash.slice(1))}"` : ''
    if (!pathname.startsWith(base) || !files.get(target)?.includes(anchor)) {
      wrong.push(`${name}: ${link} leads nowhere`)
    }
  }
}
console.log([`${pages.length} pages, ${wrong.length} mistakes`, ...wrong.slice(0, 50)].join('\n'))
process.exitCode = wrong.length > 0 ? 1 : 0
