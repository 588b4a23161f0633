//! Ids as the runtime and the API server hand them out: shared text, cheap to clone and to compare.

use alloc::{string::String, sync::Arc};
use core::{borrow::Borrow, cmp::Ordering, fmt, hash, ops::Deref};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first 13 characters of an id, as `crictl` shows it: they tell the containers of a node apart.
pub fn short_id(id: &str) -> &str {
    id.char_indices().nth(13).and_then(|(end, _)| id.get(..end)).unwrap_or(id)
}

/// The first eight bytes of a text as a number, zeros behind a shorter one: texts whose heads differ are in the order
/// of their heads.
fn head(text: &str) -> u64 {
    let mut bytes = [0; 8];
    for (byte, of_text) in bytes.iter_mut().zip(text.bytes()) {
        *byte = of_text;
    }
    u64::from_be_bytes(bytes)
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            /// Decides nearly every comparison of a walk down a map without a look at the text, which lies elsewhere
            /// in memory.
            head: u64,
            text: Arc<str>,
        }

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.head.cmp(&other.head).then_with(|| match Arc::ptr_eq(&self.text, &other.text) {
                    true => Ordering::Equal,
                    false => self.text.cmp(&other.text),
                })
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.head == other.head && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
            }
        }

        impl Eq for $name {}

        // As `Borrow<str>` asks: the hash of the text.
        impl hash::Hash for $name {
            fn hash<H: hash::Hasher>(&self, state: &mut H) {
                self.text.hash(state);
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Arc::deserialize(deserializer).map(Self::from)
            }
        }

        impl Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.text
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.text
            }
        }

        impl From<Arc<str>> for $name {
            fn from(text: Arc<str>) -> Self {
                Self { head: head(&text), text }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::from(Arc::from(text))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::from(Arc::<str>::default())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.text)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.text, f)
            }
        }
    };
}

text_id! {
    /// A pod's UID, as the API server gave it. Containers without the label share the empty one.
    Uid
}

text_id! {
    /// The runtime's id of a sandbox or a container; 64 hex digits with containerd and CRI-O.
    CriId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_have_as_many_characters_as_crictls() {
        for (id, short) in
            [("0123456789abcdef", "0123456789abc"), ("0123456789abc", "0123456789abc"), ("µµ", "µµ")]
        {
            assert_eq!(short_id(id), short);
        }
        assert_eq!(short_id("ää23456789äbcdef"), "ää23456789äbc");
    }

    #[test]
    fn ids_are_in_the_order_of_their_texts() {
        let texts =
            ["", "\0", "a", "a\0", "a\0b", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaaab", "aaaaaaab", "b", "ä", "𝄞"];
        for a in texts {
            for b in texts {
                assert_eq!(CriId::from(a).cmp(&CriId::from(b)), a.cmp(b), "{a:?} {b:?}");
                assert_eq!(CriId::from(a) == CriId::from(b), a == b, "{a:?} {b:?}");
            }
        }
    }
}
