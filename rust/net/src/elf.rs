//! What an ELF file says of itself.

use std::fmt;
use std::fs::File;
use std::io;

use object::elf::{
    EM_386, EM_AARCH64, EM_ARM, EM_LOONGARCH, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, FileHeader32,
    FileHeader64, PT_INTERP, PT_NOTE,
};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache};

/// What a file is that shall run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A program with this dynamic loader.
    Dynamic {
        /// The path of the loader.
        loader: String,
        /// Written in Go, whose runtime makes its system calls itself, also where it uses libraries.
        is_go: bool,
    },
    /// A program that loads no library.
    Static {
        /// Written in Go.
        is_go: bool,
    },
    /// A program for machines of another kind.
    Foreign(Machine),
    /// No ELF file.
    Other,
}

/// A kind of machine, by the number that ELF has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// ELF's number.
    pub number: u16,
    /// Of 64 bits, or of 32.
    pub is_64: bool,
}

impl Machine {
    /// That of this process, which is also the library's.
    pub const OURS: Option<Machine> = if cfg!(target_arch = "x86_64") {
        Some(Machine { number: EM_X86_64, is_64: true })
    } else if cfg!(target_arch = "aarch64") {
        Some(Machine { number: EM_AARCH64, is_64: true })
    } else {
        None
    };
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.number {
            EM_386 => "i386",
            EM_X86_64 => "x86-64",
            EM_ARM => "ARM",
            EM_AARCH64 => "AArch64",
            EM_PPC64 => "PowerPC",
            EM_S390 => "s390x",
            EM_RISCV => "RISC-V",
            EM_LOONGARCH => "LoongArch",
            other => return write!(f, "ELF's machine {other}"),
        };
        write!(f, "{name}, {} bits", if self.is_64 { 64 } else { 32 })
    }
}

/// Looks at a file, of which only the heads are read.
pub(crate) fn kind(file: File) -> io::Result<Kind> {
    let data = ReadCache::new(file);
    let kind = match FileKind::parse(&data) {
        Ok(FileKind::Elf64) => kind_of::<FileHeader64<Endianness>>(&data),
        Ok(FileKind::Elf32) => kind_of::<FileHeader32<Endianness>>(&data),
        // Also what is too short for anything.
        _ => return Ok(Kind::Other),
    };
    kind.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn kind_of<H: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> object::Result<Kind> {
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let machine = Machine { number: header.e_machine(endian), is_64: header.is_class_64() };
    if Machine::OURS.is_some_and(|ours| ours != machine) {
        return Ok(Kind::Foreign(machine));
    }
    let segments = header.program_headers(endian, data)?;
    let mut loader = None;
    let mut is_go = false;
    for segment in segments {
        match segment.p_type(endian) {
            PT_INTERP => loader = segment.interpreter(endian, data)?.map(path_of),
            PT_NOTE => is_go |= has_go_note(segment, endian, data)?,
            _ => {}
        }
    }
    // A linker that is not Go's leaves the note out, and not this one, by which `go version` finds the version.
    is_go |= header.sections(endian, data)?.section_by_name(endian, b".go.buildinfo").is_some();
    Ok(match loader {
        Some(loader) => Kind::Dynamic { loader, is_go },
        None => Kind::Static { is_go },
    })
}

fn path_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn has_go_note<P: ProgramHeader<Endian = Endianness>>(
    segment: &P,
    endian: Endianness,
    data: &ReadCache<File>,
) -> object::Result<bool> {
    let Some(mut notes) = segment.notes(endian, data)? else { return Ok(false) };
    while let Some(note) = notes.next()? {
        if note.name() == b"Go" {
            return Ok(true);
        }
    }
    Ok(false)
}
