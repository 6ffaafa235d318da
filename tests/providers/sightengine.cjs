// Lets Sightengine's SDK send the image from standard input to another address, and prints the result:
// `node sightengine.cjs <url> <user> <secret> <model> ...`
const fetch = require.resolve('node-fetch');
const send = require(fetch);
const [url, user, secret, ...models] = process.argv.slice(2);
require.cache[fetch].exports = (to, options) => send(to.replace('https://api.sightengine.com', url), options);

const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', async () => {
  const client = require('sightengine')(user, secret);
  const answer = await client.check(models).set_bytes(Buffer.concat(chunks), 'image.jpeg');
  if (answer instanceof Error) throw answer;
  process.stdout.write(JSON.stringify(answer));
});
