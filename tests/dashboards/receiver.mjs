// A receiver of webhooks. `PUT /` sets the share of them that it refuses. Writes its address to a file.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

let refused = 0, received = 0;
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    if (request.method === "PUT") {
      refused = JSON.parse(Buffer.concat(parts)).refused;
      return response.writeHead(204).end();
    }
    received += 1;
    const refuses = Math.floor(received * refused) !== Math.floor((received - 1) * refused);
    setTimeout(() => response.writeHead(refuses ? 503 : 204).end(), 5 + (received * 7) % 40);
  });
});
server.listen(0, "127.0.0.1", () => writeFileSync(process.argv[2], `http://127.0.0.1:${server.address().port}/`));
