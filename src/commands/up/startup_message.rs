//! What `up` prints when it is ready.

use std::io::Write as _;

use domain::key::LinkSecret;

use super::Listeners;
use crate::{data_dir::DataDir, demo_file::Demo};

/// Prints where everything is, and the link that makes its user the first operator.
pub(super) fn print(
    data: &DataDir,
    listeners: &Listeners,
    (console, first): (Option<&str>, Option<&LinkSecret>),
    demo: Option<&Demo>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let (api, metrics) = (
        listeners.listener.local_addr()?,
        listeners.monitoring.local_addr()?,
    );
    let dir = data.path().display();
    writeln!(out, "Gatehouse is up.\n")?;
    match (console, first) {
        (Some(origin), Some(link)) => {
            writeln!(
                out,
                "  Open this link to create the first account. It works once, for three days:\n"
            )?;
            writeln!(out, "  {}\n", console::origin::link(origin, link))?;
        }
        (Some(origin), None) => writeln!(out, "  Console      {origin}/")?,
        (None, _) => {}
    }
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
