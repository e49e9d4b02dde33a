/** A folder over http, as any static server gives it. */
import { createReadStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = { ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8" };

/** Serves a folder on a free port of this machine; its address, and how to end it. */
export async function serve(folder: string): Promise<{ address: string; close: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const name = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const path = join(folder, name.endsWith("/") ? `${name}index.html` : name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "cache-control": "no-store" });
    createReadStream(path).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(() => resolve()); }),
  };
}
