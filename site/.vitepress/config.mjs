import { cpSync, existsSync } from 'node:fs'
import { posix } from 'node:path'
import { defineConfig } from 'vitepress'
import { address, pages, root, sidebar } from './pages.mjs'

/** Files that pages link to and that are no pages, such as sources. The site has them as text. */
const files = new Set()

export default defineConfig({
  title: 'Rate limiter for Spring Boot',
  description: 'Rate limiting for Spring Boot applications, in Redis or in memory',
  base: process.env.SITE_BASE ?? '/',
  srcDir: root,
  srcExclude: ['**/target/**', 'acceptance/**'],
  outDir: `${root}target/site`,
  cacheDir: `${root}target/vitepress`,
  rewrites: Object.fromEntries(pages.map((page) => [page, `${address(page)}.md`])),
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  themeConfig: {
    sidebar,
    nav: [
      { text: 'Getting started', link: '/docs/getting-started' },
      { text: 'Configuration', link: '/docs/configuration' },
      { text: 'Javadoc', link: '/javadoc/index.html', target: '_self' }
    ],
    outline: [2, 3],
    // Decisions and the change log name everything, too.
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { boostDocument: (id) => (/adr|CHANGELOG/.test(id) ? 0.3 : 1) } } }
    }
  },
  markdown: { anchor: { slugify }, config: adaptToCodeHost },
  vite: { plugins: [{ name: 'vue', enforce: 'pre', resolveId: vueOfThisFolder }] },
  buildEnd: ({ outDir }) => files.forEach((file) => cpSync(root + file, `${outDir}/files/${file}.txt`))
})

/** Names a heading as code hosts do, so that a link to a section works in both places. */
function slugify(title) {
  return title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-')
}

function adaptToCodeHost(md) {
  md.core.ruler.before('normalize', 'pictures', (state) => {
    state.src = state.src.replace(
      /<picture>\s*<source media="[^"]*dark\)" srcset="([^"]+)">\s*<img src="([^"]+)"([^>]*)>\s*<\/picture>/g,
      '<img class="on-dark" src="./$1"$3><img class="on-light" src="./$2"$3>'
    )
  })
  md.core.ruler.push('links', ({ tokens, env }) =>
    tokens
      .flatMap((block) => block.children ?? [])
      .filter((token) => token.type === 'link_open' && !/^([a-z]+:|#)/i.test(token.attrGet('href')))
      .forEach((token) => token.attrSet('href', target(token.attrGet('href'), env.relativePath)))
  )
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) =>
    tokens[index].info === 'mermaid'
      ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[index].content)}</pre>`
      : fence(tokens, index, ...rest)
}

/** Where a link of a page leads on the site. */
function target(link, page) {
  const [path, anchor] = link.split('#')
  const file = posix.join(posix.dirname(page), path).replace(/^docs\/adr$/, 'site/decisions.md')
  const found = [file, `${file}/README.md`].find((name) => name.endsWith('.md') && existsSync(root + name))
  if (found) {
    return `/${address(found)}.md${anchor ? `#${anchor}` : ''}`
  }
  files.add(file)
  return `/files/${file}.txt`
}

/** The pages are outside of this folder, so the build for the server would not find Vue. */
function vueOfThisFolder(id, importer, { ssr }) {
  return ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null
}
