import { createHash } from "node:crypto";

import { defineConfig, type Plugin } from "vite";

/** Scripts and styles go into the page, and the page says by their hash that it runs nothing else. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.find((it) => it.type === "asset" && it.fileName.endsWith(".html"));
      if (page?.type !== "asset") throw new Error("the bundle has no page");
      let html = String(page.source);
      const hashes: string[] = [];
      let styles = "";
      let scripts = "";
      for (const file of files) {
        if (file.type === "chunk") {
          // Neither may end the element it stands in.
          const code = file.code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          hashes.push(`'sha256-${createHash("sha256").update(code).digest("base64")}'`);
          scripts += `<script type="module">${code}</script>\n`;
        } else if (file.fileName.endsWith(".css")) {
          styles += `<style>${String(file.source).trim()}</style>\n`;
        } else if (file !== page) {
          throw new Error(`${file.fileName} would be left outside of the page`);
        }
        if (file !== page) delete bundle[file.fileName];
      }
      const policy =
        `default-src 'none'; script-src ${hashes.join(" ")}; style-src 'unsafe-inline'; img-src data:; ` +
        "base-uri 'none'; form-action 'none'";
      html = html
        .replace(/\s*<script type="module"[^>]*src=[^>]*><\/script>/, "")
        .replace(/\s*<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, "")
        .replace("default-src 'none'", () => policy)
        .replace("</head>", () => `${styles}</head>`)
        .replace("</body>", () => `${scripts}</body>`);
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  build: {
    // What browsers of 2022 read; a report is also opened on machines that are not kept up.
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: { input: "report.html" },
  },
});
