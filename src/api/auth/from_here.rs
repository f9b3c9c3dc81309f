//! Requests without a key: programs of this machine may send them, and no web page from elsewhere.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};

/// Tells how a page stands to the one that it asks. Pages cannot set it, and browsers send it with each request to
/// this machine, those without an `Origin` included.
const FETCH_SITE: &str = "sec-fetch-site";

/// Whether a request names this machine as its only host, and no web page from elsewhere sent it. Neither a page whose own
/// name resolves to 127.0.0.1 (DNS rebinding) nor one that sends a form to memgate must reach memories. A page of another
/// machine has that machine's address as its origin, so only addresses of this machine count there.
pub(super) fn is_from_here(headers: &HeaderMap) -> bool {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().map(|value| value.to_str().unwrap_or_default());
        values.next().is_none().then_some(value)
    };
    let names_address = |host: &str| is_localhost(host) || address(host).is_some();
    let is_loopback = |origin: &str| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some_and(|host| is_localhost(host) || address(host).is_some_and(is_here))
    };
    let from_page_of_here = match one(header::ORIGIN) {
        Some(Some(origin)) => is_loopback(origin),
        Some(None) => !headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site"),
        None => false,
    };
    from_page_of_here && one(header::HOST).flatten().is_some_and(names_address)
}

fn is_here(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn is_localhost(authority: &str) -> bool {
    without_port(authority).eq_ignore_ascii_case("localhost")
}

fn address(authority: &str) -> Option<IpAddr> {
    let name = without_port(authority);
    match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse().ok(),
        None => name.parse().ok(),
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    /// With the host of this machine.
    fn passes(further: &[(&'static str, &str)]) -> bool {
        let mut all = headers(&[("host", "127.0.0.1:8080")]);
        all.extend(headers(further));
        is_from_here(&all)
    }

    #[test]
    fn a_page_is_from_here_if_its_origin_is_a_loopback_address() {
        for origin in [
            "http://localhost:3000",
            "https://LOCALHOST",
            "http://127.0.0.1",
            "http://127.9.9.9:8080",
            "http://[::1]:8080",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(passes(&[("origin", origin)]), "{origin}");
        }
        for origin in [
            "http://203.0.113.7",
            "https://198.51.100.9:8443",
            "http://[2001:db8::1]",
            "http://10.0.0.1",
            "http://0.0.0.0:8080",
            "http://[::]",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "https://evil.example",
            "null",
            "localhost",
            "",
        ] {
            assert!(!passes(&[("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn a_page_that_hides_its_origin_is_told_by_the_browser() {
        assert!(!passes(&[("sec-fetch-site", "cross-site")]));
        for site in ["same-origin", "same-site", "none"] {
            assert!(passes(&[("sec-fetch-site", site)]), "{site}");
        }
    }

    #[test]
    fn a_request_has_one_host_and_one_origin_at_most() {
        assert!(passes(&[]));
        assert!(!is_from_here(&HeaderMap::new()), "no host");
        let twice = |name: &str| {
            let mut all = headers(&[("host", "localhost"), ("origin", "http://localhost")]);
            let name: header::HeaderName = name.parse().unwrap();
            let again = all[&name].clone();
            all.append(name, again);
            is_from_here(&all)
        };
        assert!(!twice("host"));
        assert!(!twice("origin"));
    }
}
