//! The `data-trunk` links of an HTML page: reading them, and putting something else in their place.

use std::cell::RefCell;

use anyhow::{Result, anyhow};
use lol_html::html_content::{ContentType, Element};
use lol_html::{HandlerResult, RewriteStrSettings, element, rewrite_str};

/// One `<link data-trunk rel="…" href="…">`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// What kind of thing it is: `rust`, `css`, `icon`, `copy-dir`, `copy-file`.
    pub(crate) rel: String,
    /// Its path, relative to the page.
    pub(crate) href: String,
}

/// All of them, in the page's order.
pub(crate) fn links(page: &str) -> Result<Vec<Link>> {
    let mut found = Vec::new();
    rewrite(page, |link| {
        found.push(link.clone());
        Ok(String::new())
    })?;
    Ok(found)
}

/// The page with each link replaced by the HTML that `replace` gives for it.
pub(crate) fn rewrite(page: &str, replace: impl FnMut(&Link) -> Result<String>) -> Result<String> {
    let replace = RefCell::new(replace);
    let on_link = |element: &mut Element<'_, '_>| -> HandlerResult {
        let attribute = |name: &str| {
            element.get_attribute(name).ok_or_else(|| anyhow!("a data-trunk link has no {name} attribute"))
        };
        let link = Link { rel: attribute("rel")?, href: attribute("href")? };
        let html = (replace.borrow_mut())(&link)?;
        element.replace(&html, ContentType::Html);
        Ok(())
    };
    let settings =
        RewriteStrSettings::new().append_element_content_handler(element!("link[data-trunk]", on_link));
    rewrite_str(page, settings).map_err(|error| anyhow!("index.html: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!DOCTYPE html>\n<head><meta charset=utf-8>\
        <link data-trunk rel=\"rust\" href=\"web/Cargo.toml\" data-bin=\"x\"/>\
        <link rel=\"manifest\" href=\"kept\"><link href='a.css' rel='css' data-trunk></head>";

    #[test]
    fn finds_trunks_links_only() {
        let link = |rel: &str, href: &str| Link { rel: rel.into(), href: href.into() };
        assert_eq!(links(PAGE).unwrap(), [link("rust", "web/Cargo.toml"), link("css", "a.css")]);
    }

    #[test]
    fn replaces_them_and_nothing_else() {
        let page = rewrite(PAGE, |link| Ok(format!("[{}]", link.href))).unwrap();
        assert_eq!(
            page,
            "<!DOCTYPE html>\n<head><meta charset=utf-8>[web/Cargo.toml]<link rel=\"manifest\" href=\"kept\">[a.css]</head>"
        );
    }

    #[test]
    fn a_link_without_path_is_an_error() {
        let error = links("<link data-trunk rel=css>").unwrap_err().to_string();
        assert!(error.contains("no href attribute"), "{error}");
    }
}
