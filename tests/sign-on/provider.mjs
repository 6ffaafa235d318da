// A real provider of OpenID Connect, with people whose claims a test changes.
import { Provider } from "oidc-provider";

/** What the provider says about people, by their name there. */
export const people = new Map();

/** Starts the provider at an issuer whose host and port are ours. */
export async function start(issuer, { clientId, clientSecret, redirect }) {
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirect], grant_types: ["authorization_code"], response_types: ["code"] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "roles"] },
    cookies: { keys: ["a key of a test"] },
    // The provider's own pages for development: any name, any password, and consent.
    features: { devInteractions: { enabled: true } },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 3600, IdToken: 300, Interaction: 600, Session: 3600 },
  });
  const server = provider.listen(Number(new URL(issuer).port));
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  return server;
}
