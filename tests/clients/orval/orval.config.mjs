const client = (name, send) => ({
  input: { target: `../../../openapi/${name}.json` },
  output: { target: `generated/${name}.ts`, client: "fetch", override: { mutator: { path: "service.ts", name: send, extension: ".js" } } },
});

export default { public: client("public", "sendPublic"), management: client("management", "sendManagement") };
