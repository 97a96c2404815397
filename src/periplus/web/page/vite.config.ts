import { defineConfig } from "vite";

// Built into the Python package: the wheel carries the page, so its users need no Node.
export default defineConfig({
  base: "/",
  worker: { format: "es" },
  build: {
    outDir: "../static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content policy allows no data: scripts or styles
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 1200,
  },
});
