//! The two versions of the program.

use std::{
    env,
    process::{Command, Stdio},
};

use serde_json::Value;
use sqlx::PgPool;

use crate::support::{Site, gatehouse, text};

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Version {
    Previous,
    This,
}

impl Version {
    /// Its program with this database.
    pub(super) fn program(self, pool: &PgPool) -> Command {
        let this = gatehouse(pool);
        if self == Self::This {
            return this;
        }
        let program = env::var_os("GATEHOUSE_PREVIOUS")
            .expect("scripts/test-versions says where the previous version is");
        let mut previous = Command::new(program);
        previous
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for (name, value) in this.get_envs() {
            match value {
                Some(value) => previous.env(name, value),
                None => previous.env_remove(name),
            };
        }
        previous
    }

    pub(super) fn run(self, pool: &PgPool, arguments: &[&str]) -> Vec<u8> {
        let mut program = self.program(pool);
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = program.args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{self:?} {arguments:?}: {output:?}"
        );
        output.stdout
    }

    fn admin(self, pool: &PgPool, arguments: &[&str]) -> Value {
        let output = self.run(pool, &[&["admin", "--json"], arguments].concat());
        serde_json::from_slice(&output).unwrap()
    }

    pub(super) fn token(self, pool: &PgPool, name: &str) -> String {
        let create = ["create-token", "--name", name, "--scopes", "all"];
        text(&self.admin(pool, &create), "management_token")
    }

    /// Creates a team with a site.
    pub(super) fn site(self, pool: &PgPool, name: &str) -> (String, Site) {
        let team = text(
            &self.admin(pool, &["create-team", "--name", name]),
            "team_id",
        );
        let site = self.admin(pool, &["create-site", "--team", &team, "--name", name]);
        let id = text(&site, "site_id");
        let key = self.admin(pool, &["create-key", "--site", &id]);
        let site = Site {
            key: text(&key, "site_key"),
            webhook_secret: text(&site, "webhook_secret"),
            id,
        };
        (team, site)
    }
}
