//! What `up` prints when it is ready.

use std::io::Write as _;

use tokio::net::TcpListener;

use crate::{data_dir::DataDir, demo_file::Demo};

pub(super) fn print_welcome(
    data: &DataDir,
    listener: &TcpListener,
    monitoring: &TcpListener,
    demo: Option<&Demo>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let (api, metrics) = (listener.local_addr()?, monitoring.local_addr()?);
    let dir = data.path().display();
    writeln!(out, "Gatehouse is up.\n")?;
    writeln!(out, "  Interface    http://{api}/functions/v1")?;
    writeln!(out, "  Description  http://{api}/docs")?;
    writeln!(out, "  Metrics      http://{metrics}/metrics")?;
    writeln!(out, "  Data         {dir}")?;
    if let Some(demo) = demo {
        writeln!(out, "  Demo         {dir}/demo.json (keys and ids)")?;
        match &demo.webhook_url {
            Some(url) => writeln!(out, "  Webhooks     {url}")?,
            None => writeln!(
                out,
                "  Webhooks     none yet: add --webhook-url http://127.0.0.1:9000/"
            )?,
        }
        writeln!(out, "\nTry it in another terminal:\n")?;
        writeln!(
            out,
            "  key=$(sed -n 's/.*\"site_key\": \"\\(.*\\)\".*/\\1/p' {dir}/demo.json)"
        )?;
        writeln!(
            out,
            "  curl http://{api}/functions/v1/submit-media -H 'Content-Type: application/json' \\"
        )?;
        writeln!(
            out,
            "    -d \"{{\\\"api_key\\\": \\\"$key\\\", \\\"body\\\": \\\"this is a blockedword\\\"}}\""
        )?;
    }
    writeln!(out, "\nCtrl-C stops everything in order.")?;
    out.flush()?;
    Ok(())
}
