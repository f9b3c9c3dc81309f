//! Typed reads from a weights file (safetensors).

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use crate::error::Unreadable;

/// The named tensors of a weights file that is compiled in.
pub(super) struct Tensors {
    tensors: SafeTensors<'static>,
    metadata: std::collections::HashMap<String, String>,
}

impl Tensors {
    pub(super) fn read(file: &'static [u8]) -> Result<Self, Unreadable> {
        let (_, header) = SafeTensors::read_metadata(file)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        Ok(Self { tensors: SafeTensors::deserialize(file)?, metadata })
    }

    /// A single number.
    pub(super) fn number(&self, name: &str) -> Result<f32, Unreadable> {
        match *self.numbers(name)? {
            [number] => Ok(number),
            _ => Err(wrong(name, "not a single number")),
        }
    }

    /// Finite numbers of four bytes.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f32>, Unreadable> {
        let data = self.of_kind(name, Dtype::F32)?.data();
        let numbers: Vec<f32> =
            data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let finite = numbers.iter().all(|number| number.is_finite());
        if finite { Ok(numbers) } else { Err(wrong(name, "not finite")) }
    }

    /// Whether a tensor is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// Signed numbers of one byte, as bytes, and their shape.
    pub(super) fn bytes(&self, name: &str) -> Result<(&'static [u8], Vec<usize>), Unreadable> {
        let tensor = self.of_kind(name, Dtype::I8)?;
        Ok((tensor.data(), tensor.shape().to_vec()))
    }

    /// A list of names, separated by spaces.
    pub(super) fn names(&self, name: &str) -> Result<Vec<&str>, Unreadable> {
        let list = self.metadata.get(name).ok_or_else(|| wrong(name, "no such metadata"))?;
        Ok(list.split(' ').collect())
    }

    fn of_kind(&self, name: &str, kind: Dtype) -> Result<TensorView<'static>, Unreadable> {
        let tensor = self.tensors.tensor(name)?;
        if tensor.dtype() == kind { Ok(tensor) } else { Err(wrong(name, "of another type")) }
    }
}

/// An error about one tensor.
pub(super) fn wrong(name: &str, why: &'static str) -> Unreadable {
    Unreadable::Tensor { name: name.to_owned(), why }
}
