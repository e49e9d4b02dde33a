import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test-browser/**/*.test.ts"],
    globalSetup: "test-browser/sites.ts",
    fileParallelism: false, // times are measured, and two browsers are enough for two cores
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
