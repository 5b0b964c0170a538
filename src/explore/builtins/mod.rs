//! The C library as the machine executes it: each function as glibc behaves, on the program's own memory.
//!
//! Every access goes through [`Environment`], so that it is checked for bounds and races like the program's own.

mod arithmetic;
pub mod call;
mod character;
mod errors;
mod exact_mathematics;
mod format;
mod heap;
mod mathematics;
mod memory;
mod number;
mod print;
mod real;
mod real_text;
mod scan;
mod scan_format;
mod search;
mod sort;
pub mod stream;
mod strings;
mod system;
#[cfg(test)]
mod tests;
mod text;
mod variadic;

use self::call::{Call, Outcome};
use self::character::Class;
use self::number::Signedness;
use self::print::{Destination, Passing};
use self::scan::Origin;
use self::strings::{exact, without_case};
use super::environment::Environment;
use super::value::Value;
use crate::models::Builtin;
use crate::program::{Scalar, Type};

pub use self::call::BuiltinResult;

/// Executes one library function; `types` are those of the actual arguments.
pub fn call(
    builtin: Builtin,
    environment: &mut dyn Environment,
    arguments: &[Value],
    types: &[Type],
    return_type: Type,
) -> Outcome {
    let long_bits = environment.layout().pointer_bits();
    let call = Call { environment, arguments, types, return_type };
    match builtin {
        Builtin::Memcpy | Builtin::Memmove => memory::memcpy(call),
        Builtin::Mempcpy => memory::mempcpy(call),
        Builtin::Memccpy => memory::memccpy(call),
        Builtin::Memset => memory::memset(call),
        Builtin::Bzero | Builtin::ExplicitBzero => memory::bzero(call),
        Builtin::Bcopy => memory::bcopy(call),
        Builtin::Memcmp | Builtin::Bcmp => memory::memcmp(call),
        Builtin::Memchr => {
            let limit = call.unsigned(2)?;
            memory::memchr(call, Some(limit))
        }
        Builtin::Rawmemchr => memory::memchr(call, None),
        Builtin::Memrchr => memory::memrchr(call),
        Builtin::Memmem => memory::memmem(call),

        Builtin::Strlen => strings::strlen(call),
        Builtin::Strnlen => strings::strnlen(call),
        Builtin::Strcpy => strings::strcpy(call, false),
        Builtin::Stpcpy => strings::strcpy(call, true),
        Builtin::Strncpy => strings::strncpy(call, false),
        Builtin::Stpncpy => strings::strncpy(call, true),
        Builtin::Strlcpy => strings::strlcpy(call),
        Builtin::Strlcat => strings::strlcat(call),
        Builtin::Strcat => strings::strcat(call),
        Builtin::Strncat => strings::strncat(call),
        Builtin::Strcmp | Builtin::Strcoll => strings::strcmp(call, None, exact),
        Builtin::Strcasecmp => strings::strcmp(call, None, without_case),
        Builtin::Strncmp => {
            let limit = call.unsigned(2)?;
            strings::strcmp(call, Some(limit), exact)
        }
        Builtin::Strncasecmp => {
            let limit = call.unsigned(2)?;
            strings::strcmp(call, Some(limit), without_case)
        }
        Builtin::Strdup => strings::strdup(call, None),
        Builtin::Strndup => {
            let limit = call.unsigned(1)?;
            strings::strdup(call, Some(limit))
        }
        Builtin::Strchr => search::strchr(call, false),
        Builtin::Strchrnul => search::strchr(call, true),
        Builtin::Strrchr => search::strrchr(call),
        Builtin::Strstr => search::strstr(call, exact),
        Builtin::Strcasestr => search::strstr(call, without_case),
        Builtin::Strspn => search::strspn(call),
        Builtin::Strcspn => search::strcspn(call),
        Builtin::Strpbrk => search::strpbrk(call),
        Builtin::Strtok => search::strtok(call),
        Builtin::StrtokR => search::strtok_r(call),
        Builtin::Strsep => search::strsep(call),
        Builtin::Strerror => errors::strerror(call),
        Builtin::StrerrorR => errors::strerror_r(call),
        Builtin::Strsignal => errors::strsignal(call),

        Builtin::Atoi | Builtin::Atol => number::atoi(call, long_bits),
        Builtin::Atoll => number::atoi(call, 64),
        Builtin::Strtol => number::strtol(call, long_bits, Signedness::Signed),
        Builtin::Strtoul => number::strtol(call, long_bits, Signedness::Unsigned),
        Builtin::Strtoll => number::strtol(call, 64, Signedness::Signed),
        Builtin::Strtoull => number::strtol(call, 64, Signedness::Unsigned),
        Builtin::Atof => real_text::strtod(call, Scalar::Double, false),
        Builtin::Strtod => real_text::strtod(call, Scalar::Double, true),
        Builtin::Strtof => real_text::strtod(call, Scalar::Float, true),
        Builtin::Strtold => real_text::strtod(call, Scalar::X86Fp80, true),

        Builtin::Abs => arithmetic::abs(call, 32),
        Builtin::Labs => arithmetic::abs(call, long_bits),
        Builtin::Llabs => arithmetic::abs(call, 64),
        Builtin::Div => arithmetic::div(call, 32),
        Builtin::Ldiv => arithmetic::div(call, long_bits),
        Builtin::Lldiv => arithmetic::div(call, 64),
        Builtin::Ffs => arithmetic::ffs(call, 32),
        Builtin::Ffsl => arithmetic::ffs(call, long_bits),
        Builtin::Ffsll => arithmetic::ffs(call, 64),
        Builtin::Rand => arithmetic::rand(call),
        // The seed has no influence: every number is a choice.
        Builtin::Srand => call.nothing(),
        Builtin::RandR => arithmetic::rand_r(call),
        Builtin::Drand48 => arithmetic::drand48(call),
        Builtin::Lrand48 => arithmetic::lrand48(call, false),
        Builtin::Mrand48 => arithmetic::lrand48(call, true),
        Builtin::Srand48 => arithmetic::srand48(call),

        Builtin::Malloc => heap::malloc(call),
        Builtin::Calloc => heap::calloc(call),
        Builtin::Realloc => heap::realloc(call),
        Builtin::Reallocarray => heap::reallocarray(call),
        Builtin::Free => heap::free(call),
        Builtin::AlignedAlloc | Builtin::Memalign => heap::aligned_alloc(call),
        Builtin::PosixMemalign => heap::posix_memalign(call),
        Builtin::Valloc => heap::valloc(call),
        Builtin::MallocUsableSize => heap::malloc_usable_size(call),

        Builtin::Isalnum => character::is(call, Class::Alphanumeric),
        Builtin::Isalpha => character::is(call, Class::Alpha),
        Builtin::Isblank => character::is(call, Class::Blank),
        Builtin::Iscntrl => character::is(call, Class::Control),
        Builtin::Isdigit => character::is(call, Class::Digit),
        Builtin::Isgraph => character::is(call, Class::Graph),
        Builtin::Islower => character::is(call, Class::Lower),
        Builtin::Isprint => character::is(call, Class::Print),
        Builtin::Ispunct => character::is(call, Class::Punctuation),
        Builtin::Isspace => character::is(call, Class::Space),
        Builtin::Isupper => character::is(call, Class::Upper),
        Builtin::Isxdigit => character::is(call, Class::HexDigit),
        Builtin::Isascii => character::isascii(call),
        Builtin::Toascii => character::toascii(call),
        Builtin::Tolower => character::convert(call, u8::to_ascii_lowercase),
        Builtin::Toupper => character::convert(call, u8::to_ascii_uppercase),
        Builtin::CtypeBLoc => character::location(call, "classes of characters", &character::class_table()),
        Builtin::CtypeTolowerLoc => character::location(call, "lower case", &character::case_table(u8::to_ascii_lowercase)),
        Builtin::CtypeToupperLoc => character::location(call, "upper case", &character::case_table(u8::to_ascii_uppercase)),
        Builtin::CtypeGetMbCurMax => call.integer(1),

        Builtin::Printf => print::print(call, Destination::Standard, 0, Passing::Direct),
        Builtin::Fprintf => print::print(call, Destination::Stream(0), 1, Passing::Direct),
        Builtin::Dprintf => print::print(call, Destination::Descriptor(0), 1, Passing::Direct),
        Builtin::Sprintf => print::print(call, Destination::Buffer(0), 1, Passing::Direct),
        Builtin::Snprintf => print::print(call, Destination::Bounded(0, 1), 2, Passing::Direct),
        Builtin::Asprintf => print::print(call, Destination::Allocated(0), 1, Passing::Direct),
        Builtin::Vprintf => print::print(call, Destination::Standard, 0, Passing::List),
        Builtin::Vfprintf => print::print(call, Destination::Stream(0), 1, Passing::List),
        Builtin::Vdprintf => print::print(call, Destination::Descriptor(0), 1, Passing::List),
        Builtin::Vsprintf => print::print(call, Destination::Buffer(0), 1, Passing::List),
        Builtin::Vsnprintf => print::print(call, Destination::Bounded(0, 1), 2, Passing::List),
        Builtin::Vasprintf => print::print(call, Destination::Allocated(0), 1, Passing::List),
        // The fortified forms carry a flag, and the size of the buffer, before the format.
        Builtin::PrintfChk => print::print(call, Destination::Standard, 1, Passing::Direct),
        Builtin::FprintfChk => print::print(call, Destination::Stream(0), 2, Passing::Direct),
        Builtin::DprintfChk => print::print(call, Destination::Descriptor(0), 2, Passing::Direct),
        Builtin::SprintfChk => print::print(call, Destination::Buffer(0), 3, Passing::Direct),
        Builtin::SnprintfChk => print::print(call, Destination::Bounded(0, 1), 4, Passing::Direct),
        Builtin::AsprintfChk => print::print(call, Destination::Allocated(0), 2, Passing::Direct),
        Builtin::VprintfChk => print::print(call, Destination::Standard, 1, Passing::List),
        Builtin::VfprintfChk => print::print(call, Destination::Stream(0), 2, Passing::List),
        Builtin::VdprintfChk => print::print(call, Destination::Descriptor(0), 2, Passing::List),
        Builtin::VsprintfChk => print::print(call, Destination::Buffer(0), 3, Passing::List),
        Builtin::VsnprintfChk => print::print(call, Destination::Bounded(0, 1), 4, Passing::List),
        Builtin::VasprintfChk => print::print(call, Destination::Allocated(0), 2, Passing::List),

        Builtin::Scanf => scan::scan(call, Origin::Standard, 0, false),
        Builtin::Fscanf => scan::scan(call, Origin::Stream(0), 1, false),
        Builtin::Sscanf => scan::scan(call, Origin::Text(0), 1, false),
        Builtin::Vscanf => scan::scan(call, Origin::Standard, 0, true),
        Builtin::Vfscanf => scan::scan(call, Origin::Stream(0), 1, true),
        Builtin::Vsscanf => scan::scan(call, Origin::Text(0), 1, true),

        Builtin::Puts => stream::puts(call),
        Builtin::Fputs => stream::fputs(call),
        Builtin::Putchar => stream::putc(call, None),
        Builtin::Fputc => stream::putc(call, Some(1)),
        Builtin::Fwrite => stream::fwrite(call),
        Builtin::Fflush => stream::accept(call, true),
        Builtin::Perror => stream::perror(call),
        Builtin::Setbuf | Builtin::Setvbuf | Builtin::Ferror => stream::accept(call, false),
        Builtin::Fseek | Builtin::Rewind => stream::seek(call),
        Builtin::Fopen => stream::open(call, &[0, 1]),
        Builtin::Fdopen => stream::open(call, &[1]),
        Builtin::Tmpfile => stream::open(call, &[]),
        Builtin::Freopen => stream::freopen(call),
        Builtin::Fclose => stream::fclose(call),
        Builtin::Fgetc => stream::getc(call, Some(0)),
        Builtin::Getchar => stream::getc(call, None),
        Builtin::Ungetc => stream::ungetc(call),
        Builtin::Fgets => stream::fgets(call, 1, 2),
        Builtin::Fread => stream::fread(call, 1),
        Builtin::FgetsChk => stream::fgets(call, 2, 3),
        Builtin::FreadChk => stream::fread(call, 2),
        Builtin::Getline => stream::getdelim(call, b'\n', 2),
        Builtin::Getdelim => {
            let delimiter = call.int(2)? as u8;
            stream::getdelim(call, delimiter, 3)
        }
        Builtin::Feof => stream::feof(call),
        Builtin::Clearerr => stream::clearerr(call),
        Builtin::Fileno => stream::fileno(call),
        Builtin::Ftell => stream::ftell(call),
        Builtin::Remove => stream::remove(call),
        Builtin::Read => stream::read_descriptor(call),
        Builtin::Write => stream::write_descriptor(call),

        Builtin::Qsort => sort::qsort(call, false),
        Builtin::QsortR => sort::qsort(call, true),
        Builtin::Bsearch => sort::bsearch(call),

        Builtin::Time => system::time(call),
        Builtin::Clock => system::clock(call),
        Builtin::Gettimeofday => system::gettimeofday(call),
        Builtin::ClockGettime => system::clock_gettime(call),
        Builtin::ClockGetres => system::clock_getres(call),
        Builtin::TimespecGet => system::timespec_get(call),
        Builtin::Difftime => system::difftime(call),
        Builtin::Getenv => system::getenv(call),
        Builtin::Setlocale => system::setlocale(call),
        Builtin::Getpid => call.integer(1000),
        Builtin::Getppid => call.integer(999),
        Builtin::Getuid | Builtin::Geteuid | Builtin::Getgid | Builtin::Getegid => call.integer(1000),
        Builtin::Sysconf => system::sysconf(call),
        Builtin::Getpagesize => call.integer(system::PAGE_SIZE.into()),
        Builtin::Isatty => call.integer(0),
        Builtin::SchedGetcpu => call.integer(0),
        Builtin::ErrnoLocation => system::errno_location(call),

        Builtin::Sin
        | Builtin::Cos
        | Builtin::Tan
        | Builtin::Asin
        | Builtin::Acos
        | Builtin::Atan
        | Builtin::Atan2
        | Builtin::Sinh
        | Builtin::Cosh
        | Builtin::Tanh
        | Builtin::Asinh
        | Builtin::Acosh
        | Builtin::Atanh
        | Builtin::Exp
        | Builtin::Exp2
        | Builtin::Exp10
        | Builtin::Expm1
        | Builtin::Log
        | Builtin::Log2
        | Builtin::Log10
        | Builtin::Log1p
        | Builtin::Pow
        | Builtin::Cbrt
        | Builtin::Hypot
        | Builtin::Erf
        | Builtin::Erfc
        | Builtin::Tgamma
        | Builtin::Lgamma => mathematics::transcendental(call, builtin),
        Builtin::Sincos => mathematics::sincos(call),
        Builtin::Sqrt => exact_mathematics::sqrt(call),
        Builtin::Fabs
        | Builtin::Floor
        | Builtin::Ceil
        | Builtin::Trunc
        | Builtin::Round
        | Builtin::Roundeven
        | Builtin::Rint
        | Builtin::Nearbyint
        | Builtin::Logb => exact_mathematics::algebraic(call, builtin, 1),
        Builtin::Fmod
        | Builtin::Remainder
        | Builtin::Fmin
        | Builtin::Fmax
        | Builtin::Fdim
        | Builtin::Copysign
        | Builtin::Nextafter => exact_mathematics::algebraic(call, builtin, 2),
        Builtin::Fma => exact_mathematics::algebraic(call, builtin, 3),
        Builtin::Lround | Builtin::Lrint => exact_mathematics::to_long(call, builtin),
        Builtin::Ldexp => exact_mathematics::ldexp(call),
        Builtin::Frexp => exact_mathematics::frexp(call),
        Builtin::Modf => exact_mathematics::modf(call),
        Builtin::Ilogb => exact_mathematics::ilogb(call),
        Builtin::Nan => exact_mathematics::nan(call),
        Builtin::Isnan | Builtin::Isinf | Builtin::Finite | Builtin::Fpclassify | Builtin::Signbit => {
            exact_mathematics::classify(call, builtin)
        }
    }
}
