//! The parts of a `multipart/form-data`.

use hyper::http::request::Parts;

pub(super) struct Form<'a>(Vec<(String, &'a [u8])>);

impl<'a> Form<'a> {
    pub(super) fn read(parts: &Parts, body: &'a [u8]) -> Option<Self> {
        let kind = parts.headers.get("content-type")?.to_str().ok()?;
        let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
        let between = format!("\r\n--{boundary}");
        let mut rest = body.strip_prefix(&between.as_bytes()[2..])?;
        let mut fields = Vec::new();
        while let Some(part) = rest.strip_prefix(b"\r\n") {
            let end = find(part, between.as_bytes())?;
            let head_end = find(part, b"\r\n\r\n")?;
            let head = str::from_utf8(&part[..head_end]).ok()?;
            let name = head.split("; name=\"").nth(1)?.split('"').next()?;
            fields.push((name.to_owned(), part.get(head_end + 4..end)?));
            rest = &part[end + between.len()..];
        }
        rest.starts_with(b"--").then_some(Self(fields))
    }

    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let field = self.0.iter().find(|(own, _)| own == name);
        field.map(|(_, value)| *value)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.field(name)
            .and_then(|field| str::from_utf8(field).ok())
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
