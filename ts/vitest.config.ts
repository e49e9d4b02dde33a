import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/setup.ts",
    testTimeout: 30_000,
    isolate: false, // the tokenizer takes a second to load: once for a worker, not for each file
  },
});
