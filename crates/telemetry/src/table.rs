//! The machinery of the table in `metrics`: a line there is a field, a registration and a method.

use std::{borrow::Cow, time::Duration};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};

/// The value of a label. Most are names from a small fixed set: an enum that derives its names, or text of the program.
pub struct Label(pub(crate) Cow<'static, str>);

impl<T: Into<&'static str>> From<T> for Label {
    fn from(name: T) -> Self {
        Self(Cow::Borrowed(name.into()))
    }
}

impl Label {
    /// A name from a small set that the configuration gives.
    pub(crate) fn configured(name: &str) -> Self {
        Self(Cow::Owned(name.to_owned()))
    }
}

/// The labels of one series, each with its name.
pub(crate) type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];

/// A metric that takes values of this type.
pub(crate) trait Record<V> {
    fn record(&self, value: V);
}

impl Record<u64> for Counter {
    fn record(&self, more: u64) {
        self.inc_by(more);
    }
}

impl Record<Duration> for Histogram {
    fn record(&self, took: Duration) {
        self.observe(took.as_secs_f64());
    }
}

impl Record<usize> for Histogram {
    fn record(&self, count: usize) {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        self.observe(count as f64);
    }
}

impl Record<u64> for Gauge {
    fn record(&self, count: u64) {
        self.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

impl Record<i64> for Gauge {
    fn record(&self, change: i64) {
        self.inc_by(change);
    }
}

impl Record<Duration> for Gauge {
    fn record(&self, age: Duration) {
        Record::<u64>::record(self, age.as_secs());
    }
}

impl Record<bool> for Gauge {
    fn record(&self, is: bool) {
        self.set(is.into());
    }
}

/// Declares `Metrics` from a table. `labelled` metrics have a series for each value of their labels, `plain` ones have
/// one. A line without a value counts 1.
macro_rules! metrics {
    (
        labelled {$(
            $(#[$about:meta])+
            $seen:vis $method:ident($($label:ident = $key:literal),+ $(; $value:ident: $given:ty)?)
                = $kind:ident $(($buckets:ident))? $name:literal: $help:literal;
        )+}
        plain {$(
            $(#[$plain_about:meta])+
            $plain_seen:vis $plain:ident($plain_value:ident: $plain_given:ty)
                = $plain_kind:ident $(($plain_buckets:ident))? $plain_name:literal: $plain_help:literal;
        )+}
    ) => {
        /// All metrics.
        pub struct Metrics {
            registry: Registry,
            $($method: Family<Labels<{ [$($key),+].len() }>, $kind>,)+
            $($plain: $plain_kind,)+
        }

        impl Metrics {
            fn registered(mut registry: Registry) -> Self {
                $(
                    let $method: Family<_, $kind> = metrics!(@family $kind $($buckets)?);
                    registry.register($name, $help, $method.clone());
                )+
                $(
                    let $plain = metrics!(@one $plain_kind $($plain_buckets)?);
                    registry.register($plain_name, $plain_help, $plain.clone());
                )+
                Self { registry, $($method,)+ $($plain,)+ }
            }

            $(
                $(#[$about])+
                $seen fn $method(&self, $($label: impl Into<Label>,)+ $($value: $given)?) {
                    let series = self.$method.get_or_create(&[$(($key, $label.into().0)),+]);
                    series.record(metrics!(@value $($value)?));
                }
            )+
            $(
                $(#[$plain_about])+
                $plain_seen fn $plain(&self, $plain_value: $plain_given) {
                    self.$plain.record($plain_value);
                }
            )+
        }
    };
    (@family $kind:ident) => { Family::default() };
    (@family $kind:ident $buckets:ident) => {
        Family::new_with_constructor(|| $kind::new($buckets))
    };
    (@one $kind:ident) => { $kind::default() };
    (@one $kind:ident $buckets:ident) => { $kind::new($buckets) };
    (@value) => { 1_u64 };
    (@value $value:ident) => { $value };
}
pub(crate) use metrics;
