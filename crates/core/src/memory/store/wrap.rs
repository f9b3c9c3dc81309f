//! A store around another one.

/// Implements [`MemoryStore`](crate::memory::MemoryStore) for a wrapper with a field `store`: every
/// operation on memories goes through the wrapper's method `read` or `change`, which gets the future
/// of the inner store's answer. Operations on the store as a whole are written out.
#[macro_export]
macro_rules! wrap_memory_store {
    ($wrapper:ty, read: $read:ident, change: $change:ident, $($whole:tt)*) => {
        $crate::wrap_memory_store! { @methods $wrapper { $($whole)* }
            $change store(
                memory: $crate::memory::Memory,
                vectors: Vec<$crate::memory::Embedding>,
                write: &$crate::memory::Write
            ) -> $crate::memory::Memory;
            $change update(
                memory: $crate::memory::Memory,
                vectors: Option<Vec<$crate::memory::Embedding>>,
                write: &$crate::memory::Write
            ) -> $crate::memory::Memory;
            $change amend(memory: $crate::memory::Memory) -> ();
            $change embed(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId,
                version: u32,
                vectors: Vec<$crate::memory::Embedding>
            ) -> ();
            $change touch(touches: &[$crate::memory::Touch]) -> ();
            $change keep_until(
                owner: &$crate::memory::Owner,
                until: $crate::reexport::Timestamp,
                now: $crate::reexport::Timestamp
            ) -> ();
            $change restore(
                whole: $crate::memory::Whole,
                write: &$crate::memory::Write
            ) -> $crate::memory::Restored;
            $change forget(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId,
                write: &$crate::memory::Write
            ) -> u64;
            $change forget_all(
                owner: &$crate::memory::Owner,
                ids: &[$crate::memory::MemoryId],
                write: &$crate::memory::Write
            ) -> u64;
            $change forget_history(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId,
                write: &$crate::memory::Write
            ) -> u64;
            $change forget_by_scope(
                scope: &$crate::memory::ForgetScope,
                write: &$crate::memory::Write
            ) -> u64;
            $change clear(write: &$crate::memory::Write) -> ();
            $read retrieve(search: &$crate::memory::Search) -> Vec<$crate::memory::Evidence>;
            $read get(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId,
                now: $crate::reexport::Timestamp
            ) -> $crate::memory::Memory;
            $read get_all(
                asked: &[($crate::memory::Owner, $crate::memory::MemoryId)],
                now: $crate::reexport::Timestamp
            ) -> Vec<$crate::memory::Memory>;
            $read history(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId
            ) -> Vec<$crate::memory::Memory>;
            $read spaces(
                owner: &$crate::memory::Owner,
                id: &$crate::memory::MemoryId
            ) -> Vec<String>;
            $read list(query: &$crate::memory::ListQuery) -> $crate::memory::Page;
            $read count(
                scope: &$crate::memory::ScopeQuery,
                filter: Option<&$crate::memory::Filter>,
                space: &str,
                now: $crate::reexport::Timestamp
            ) -> $crate::memory::Counts;
            $read unembedded(space: &str, limit: usize) -> Vec<$crate::memory::Memory>;
            $read scan(
                owner: Option<&$crate::memory::Owner>,
                after: Option<&str>,
                limit: usize
            ) -> $crate::memory::Scan;
        }
    };
    (@methods $wrapper:ty { $($whole:tt)* } $(
        $through:ident $method:ident($($arg:ident: $type:ty),*) -> $out:ty;
    )+) => {
        #[$crate::reexport::async_trait]
        impl $crate::memory::MemoryStore for $wrapper {
            $(async fn $method(
                &self,
                $($arg: $type),*
            ) -> Result<$out, $crate::memory::StoreError> {
                self.$through(self.store.$method($($arg),*)).await
            })+

            $($whole)*
        }
    };
}
