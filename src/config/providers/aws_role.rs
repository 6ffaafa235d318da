//! The AWS role of this process, from the variables that AWS sets, in the same order as the AWS
//! SDKs.

use anyhow::{Context as _, bail, ensure};
use url::{Host, Url};
use workers::provider::{AwsRole, ContainerToken};

use crate::config::variable;

/// The address where ECS issues credentials.
const CONTAINER: &str = "http://169.254.170.2";
/// Other addresses that are allowed without TLS: Pod Identity of EKS.
const CONTAINERS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
const INSTANCE: &str = "http://169.254.169.254";
const INSTANCE_IPV6: &str = "http://[fd00:ec2::254]";

/// The source of the role's credentials.
///
/// # Errors
/// One line that says what is wrong with the variables.
pub(super) fn aws_role(region: &str) -> anyhow::Result<AwsRole> {
    if let Some(file) = variable("AWS_WEB_IDENTITY_TOKEN_FILE")? {
        let role = variable("AWS_ROLE_ARN")?;
        let role = role.context("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not")?;
        let session = variable("AWS_ROLE_SESSION_NAME")?;
        let sts = variable("AWS_ENDPOINT_URL_STS")?
            .unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com"));
        return Ok(AwsRole::WebIdentity {
            sts: address("AWS_ENDPOINT_URL_STS", &sts)?,
            role,
            session: session.unwrap_or_else(|| "gatehouse".to_owned()),
            token_file: file.into(),
        });
    }
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")?;
    if let Some(relative) = relative {
        let name = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
        ensure!(relative.starts_with('/'), "{name} must begin with /");
        let url = address(name, &format!("{CONTAINER}{relative}"))?;
        return container(url);
    }
    if let Some(full) = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")? {
        let name = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
        let url = address(name, &full)?;
        // The same rule as in the AWS SDKs: the token must not cross a network unencrypted.
        ensure!(
            url.scheme() == "https" || is_near(&url),
            "{name} must be an https URL or an address on this machine"
        );
        return container(url);
    }
    let is_off = variable("AWS_EC2_METADATA_DISABLED")?;
    if is_off.is_some_and(|off| off.eq_ignore_ascii_case("true")) {
        bail!(
            "there is no role: AWS_EC2_METADATA_DISABLED is true, and neither AWS_WEB_IDENTITY_TOKEN_FILE nor \
             AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set"
        );
    }
    let mode = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?;
    let usual = match mode {
        Some(mode) if mode.eq_ignore_ascii_case("ipv6") => INSTANCE_IPV6,
        _ => INSTANCE,
    };
    let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    let endpoint = variable(name)?.unwrap_or_else(|| usual.to_owned());
    Ok(AwsRole::Instance {
        endpoint: address(name, &endpoint)?,
    })
}

fn container(url: Url) -> anyhow::Result<AwsRole> {
    let file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")?;
    let token = match file {
        Some(file) => Some(ContainerToken::File(file.into())),
        None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")?.map(ContainerToken::Value),
    };
    Ok(AwsRole::Container { url, token })
}

fn address(name: &str, text: &str) -> anyhow::Result<Url> {
    let url: Option<Url> = text.parse().ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .with_context(|| format!("{name} is not an http or https URL"))
}

fn is_near(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    is_loopback
        || url
            .host_str()
            .is_some_and(|host| CONTAINERS.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_cross_no_network_in_the_clear() {
        let near = |url: &str| is_near(&url.parse().unwrap());
        for url in [
            "http://127.0.0.1:51679/v1",
            "http://[::1]/",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
        ] {
            assert!(near(url), "{url}");
        }
        assert!(!near("http://169.254.169.254/"));
        assert!(!near("http://credentials.example.com/"));
    }
}
