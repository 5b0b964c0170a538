//! The library functions that the machine executes itself: a closed list, each named after the C function whose behaviour it has.
//!
//! Several C functions can share one: `sinf` and `sinl` are `sin` with arguments of another width, `__memcpy_chk` is `memcpy` with an
//! argument more. `models/libc.yaml` says which function runs which.

macro_rules! builtins {
    ($($variant:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Builtin {
            $($variant,)*
        }

        impl Builtin {
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant,)*];

            /// The C function's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $name,)*
                }
            }

            pub fn from_name(name: &str) -> Option<Builtin> {
                match name {
                    $($name => Some(Builtin::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

builtins! {
    // memory
    Memcpy "memcpy",
    Memmove "memmove",
    Mempcpy "mempcpy",
    Memccpy "memccpy",
    Memset "memset",
    ExplicitBzero "explicit_bzero",
    Bzero "bzero",
    Bcopy "bcopy",
    Memcmp "memcmp",
    Bcmp "bcmp",
    Memchr "memchr",
    Rawmemchr "rawmemchr",
    Memrchr "memrchr",
    Memmem "memmem",
    // strings
    Strlen "strlen",
    Strnlen "strnlen",
    Strcpy "strcpy",
    Strncpy "strncpy",
    Strlcpy "strlcpy",
    Strlcat "strlcat",
    Stpcpy "stpcpy",
    Stpncpy "stpncpy",
    Strcat "strcat",
    Strncat "strncat",
    Strcmp "strcmp",
    Strncmp "strncmp",
    Strcasecmp "strcasecmp",
    Strncasecmp "strncasecmp",
    Strcoll "strcoll",
    Strchr "strchr",
    Strrchr "strrchr",
    Strchrnul "strchrnul",
    Strstr "strstr",
    Strcasestr "strcasestr",
    Strspn "strspn",
    Strcspn "strcspn",
    Strpbrk "strpbrk",
    Strtok "strtok",
    StrtokR "strtok_r",
    Strsep "strsep",
    Strdup "strdup",
    Strndup "strndup",
    Strerror "strerror",
    StrerrorR "strerror_r",
    Strsignal "strsignal",
    // numbers from text
    Atoi "atoi",
    Atol "atol",
    Atoll "atoll",
    Atof "atof",
    Strtol "strtol",
    Strtoul "strtoul",
    Strtoll "strtoll",
    Strtoull "strtoull",
    Strtod "strtod",
    Strtof "strtof",
    Strtold "strtold",
    // integers
    Abs "abs",
    Labs "labs",
    Llabs "llabs",
    Div "div",
    Ldiv "ldiv",
    Lldiv "lldiv",
    Ffs "ffs",
    Ffsl "ffsl",
    Ffsll "ffsll",
    Rand "rand",
    Srand "srand",
    RandR "rand_r",
    Drand48 "drand48",
    Lrand48 "lrand48",
    Mrand48 "mrand48",
    Srand48 "srand48",
    // the heap
    Malloc "malloc",
    Calloc "calloc",
    Realloc "realloc",
    Reallocarray "reallocarray",
    Free "free",
    AlignedAlloc "aligned_alloc",
    PosixMemalign "posix_memalign",
    Memalign "memalign",
    Valloc "valloc",
    MallocUsableSize "malloc_usable_size",
    // characters
    Isalnum "isalnum",
    Isalpha "isalpha",
    Isblank "isblank",
    Iscntrl "iscntrl",
    Isdigit "isdigit",
    Isgraph "isgraph",
    Islower "islower",
    Isprint "isprint",
    Ispunct "ispunct",
    Isspace "isspace",
    Isupper "isupper",
    Isxdigit "isxdigit",
    Isascii "isascii",
    Toascii "toascii",
    Tolower "tolower",
    Toupper "toupper",
    CtypeBLoc "__ctype_b_loc",
    CtypeTolowerLoc "__ctype_tolower_loc",
    CtypeToupperLoc "__ctype_toupper_loc",
    CtypeGetMbCurMax "__ctype_get_mb_cur_max",
    // formatted output
    Printf "printf",
    Fprintf "fprintf",
    Dprintf "dprintf",
    Sprintf "sprintf",
    Snprintf "snprintf",
    Asprintf "asprintf",
    Vprintf "vprintf",
    Vfprintf "vfprintf",
    Vdprintf "vdprintf",
    Vsprintf "vsprintf",
    Vsnprintf "vsnprintf",
    Vasprintf "vasprintf",
    PrintfChk "__printf_chk",
    FprintfChk "__fprintf_chk",
    DprintfChk "__dprintf_chk",
    SprintfChk "__sprintf_chk",
    SnprintfChk "__snprintf_chk",
    AsprintfChk "__asprintf_chk",
    VprintfChk "__vprintf_chk",
    VfprintfChk "__vfprintf_chk",
    VdprintfChk "__vdprintf_chk",
    VsprintfChk "__vsprintf_chk",
    VsnprintfChk "__vsnprintf_chk",
    VasprintfChk "__vasprintf_chk",
    // formatted input
    Scanf "scanf",
    Fscanf "fscanf",
    Sscanf "sscanf",
    Vscanf "vscanf",
    Vfscanf "vfscanf",
    Vsscanf "vsscanf",
    // streams
    Puts "puts",
    Fputs "fputs",
    Putchar "putchar",
    Fputc "fputc",
    Fwrite "fwrite",
    Fflush "fflush",
    Perror "perror",
    Setbuf "setbuf",
    Setvbuf "setvbuf",
    Fopen "fopen",
    Freopen "freopen",
    Fdopen "fdopen",
    Tmpfile "tmpfile",
    Fclose "fclose",
    Fgetc "fgetc",
    Getchar "getchar",
    Ungetc "ungetc",
    Fgets "fgets",
    Fread "fread",
    FgetsChk "__fgets_chk",
    FreadChk "__fread_chk",
    Getline "getline",
    Getdelim "getdelim",
    Feof "feof",
    Ferror "ferror",
    Clearerr "clearerr",
    Fileno "fileno",
    Fseek "fseek",
    Ftell "ftell",
    Rewind "rewind",
    Remove "remove",
    Read "read",
    Write "write",
    // callbacks
    Qsort "qsort",
    QsortR "qsort_r",
    Bsearch "bsearch",
    // time and system
    Time "time",
    Clock "clock",
    Gettimeofday "gettimeofday",
    ClockGettime "clock_gettime",
    ClockGetres "clock_getres",
    TimespecGet "timespec_get",
    Difftime "difftime",
    Getenv "getenv",
    Setlocale "setlocale",
    Getpid "getpid",
    Getppid "getppid",
    Getuid "getuid",
    Geteuid "geteuid",
    Getgid "getgid",
    Getegid "getegid",
    Sysconf "sysconf",
    Getpagesize "getpagesize",
    Isatty "isatty",
    SchedGetcpu "sched_getcpu",
    ErrnoLocation "__errno_location",
    // mathematics
    Sin "sin",
    Cos "cos",
    Tan "tan",
    Asin "asin",
    Acos "acos",
    Atan "atan",
    Atan2 "atan2",
    Sinh "sinh",
    Cosh "cosh",
    Tanh "tanh",
    Asinh "asinh",
    Acosh "acosh",
    Atanh "atanh",
    Exp "exp",
    Exp2 "exp2",
    Exp10 "exp10",
    Expm1 "expm1",
    Log "log",
    Log2 "log2",
    Log10 "log10",
    Log1p "log1p",
    Logb "logb",
    Pow "pow",
    Sqrt "sqrt",
    Cbrt "cbrt",
    Hypot "hypot",
    Erf "erf",
    Erfc "erfc",
    Tgamma "tgamma",
    Lgamma "lgamma",
    Fabs "fabs",
    Floor "floor",
    Ceil "ceil",
    Trunc "trunc",
    Round "round",
    Roundeven "roundeven",
    Rint "rint",
    Nearbyint "nearbyint",
    Lround "lround",
    Lrint "lrint",
    Fmod "fmod",
    Remainder "remainder",
    Fmin "fmin",
    Fmax "fmax",
    Fdim "fdim",
    Fma "fma",
    Copysign "copysign",
    Nextafter "nextafter",
    Ldexp "ldexp",
    Sincos "sincos",
    Frexp "frexp",
    Modf "modf",
    Ilogb "ilogb",
    Nan "nan",
    Isnan "__isnan",
    Isinf "__isinf",
    Finite "__finite",
    Fpclassify "__fpclassify",
    Signbit "__signbit",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Builtin;
    use crate::models::Models;

    #[test]
    fn every_name_leads_back_to_its_builtin() {
        for &builtin in Builtin::ALL {
            assert_eq!(Builtin::from_name(builtin.name()), Some(builtin));
        }
        assert_eq!(Builtin::from_name("system"), None);
    }

    #[test]
    fn every_builtin_is_run_by_some_function() {
        let models = Models::embedded();
        let run: BTreeSet<Builtin> = models.iter().filter_map(|model| model.builtin).collect();
        let idle: Vec<&str> =
            Builtin::ALL.iter().filter(|builtin| !run.contains(builtin)).map(|builtin| builtin.name()).collect();
        assert!(idle.is_empty(), "no entry of models/*.yaml runs {idle:?}");
    }
}
