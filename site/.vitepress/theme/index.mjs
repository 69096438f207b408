import mermaidUrl from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
import { useData, useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { nextTick, onMounted, watch } from 'vue'
import './style.css'

export default {
  extends: DefaultTheme,
  setup() {
    const { isDark } = useData()
    const route = useRoute()
    onMounted(() => draw(isDark.value))
    watch([() => route.path, isDark], () => nextTick(() => draw(isDark.value)))
  }
}

/** Draws the diagrams of the page. Only pages with a diagram load the library. */
async function draw(dark) {
  for (const [index, diagram] of document.querySelectorAll('pre.mermaid').entries()) {
    await (window.mermaidLoaded ??= new Promise((onload, onerror) =>
      document.head.append(Object.assign(document.createElement('script'), { src: mermaidUrl, onload, onerror }))
    ))
    window.mermaid.initialize({ startOnLoad: false, theme: dark ? 'dark' : 'default' })
    diagram.dataset.source ??= diagram.textContent
    diagram.innerHTML = (await window.mermaid.render(`diagram-${index}`, diagram.dataset.source)).svg
  }
}
