/** Part 1. */
import type { Mount } from "./site.ts";
export const mount: Mount = (root) => { root.hidden = true; };
