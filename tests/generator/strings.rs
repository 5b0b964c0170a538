//! Strings: the `str` functions, character classes, numbers read from text, text written into buffers.

use super::builder::Builder;

const TEXTS: [&str; 8] = [
    "the quick brown fox",
    "a=1;b=22;c=333",
    "Hello, World! 42",
    "  \\tpadded\\n",
    "path/to/some.file",
    "aaaabaaab",
    "MiXeD cAsE 9x9",
    "z",
];

pub fn section(builder: &mut Builder) {
    match builder.random.below(3) {
        0 => string_functions(builder),
        1 => character_classes(builder),
        _ => number_texts(builder),
    }
}

fn string_functions(builder: &mut Builder) {
    builder.cover("string-functions");
    let values = [
        ("first", builder.choose(&TEXTS)),
        ("second", builder.choose(&TEXTS)),
        ("letter", builder.choose(&["a", "o", "1", "/", "z", " "])),
        ("needle", builder.choose(&["ab", "o", "33", "to/", "quick", ""])),
        ("accept", builder.choose(&["abcdefgh ", " \\tH", "the", "0123456789=;"])),
        ("delimiters", builder.choose(&[" ", "=;", "/.", " ,!"])),
        ("count", builder.number(1, 9)),
    ];
    builder.section(
        "strings",
        r#"
@static uint64_t @self_place(const char *text, const char *found) { return found ? (uint64_t)(found - text) : 777; }
@static int @self_sign(int value) { return (value > 0) - (value < 0); }
@static size_t @self_length(const char *text) {
    const char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}
@static uint64_t @self(void) {
    const char *first = "@first";
    char second[64] = "@second", joined[128], *copy;
    second[0] = (char)('a' + (int)(take() % 26));
    show("length", strlen(first) + 100 * @self_length(second) + 10000 * strnlen(first, @count));
    strcpy(joined, first);
    strcat(joined, "|");
    strncat(joined, second, @count);
    printf("joined %s\n", joined);
    show("compare", (uint64_t)(@self_sign(strcmp(first, second)) * 3 + @self_sign(strncmp(first, joined, @count))));
    show("places", @self_place(joined, strchr(joined, '@letter')) * 10000 + @self_place(joined, strrchr(joined, '@letter')));
    show("needle", @self_place(joined, strstr(joined, "@needle")));
    show("spans", strspn(first, "@accept") * 100 + strcspn(first, "@accept"));
    show("break", @self_place(second, strpbrk(second, "@accept")));
    copy = strdup(joined);
    if (!copy) return 0;
    unsigned count = 0;
    for (char *token = strtok(copy, "@delimiters"); token; token = strtok(NULL, "@delimiters"))
        printf("token %u <%s>\n", count++, token);
    free(copy);
    char fixed[12];
    strncpy(fixed, first, sizeof fixed);
    fixed[sizeof fixed - 1] = '\0';
    for (char *from = fixed, *to = fixed + strlen(fixed); from < to;) {
        char kept = *from;
        *from++ = *--to;
        *to = kept;
    }
    puts(fixed);
    uint64_t hash = 5381;
    for (const char *at = joined; *at; at++) hash = hash * 33 + (unsigned char)*at;
    return hash + count;
}
"#,
        &values,
    );
}

fn character_classes(builder: &mut Builder) {
    builder.cover("ctype");
    let values = [
        ("text", builder.choose(&TEXTS)),
        ("rotation", builder.number(1, 25)),
        ("start", builder.number(0, 60)),
        ("stride", builder.number(3, 11)),
    ];
    builder.section(
        "ctype",
        r#"
@static unsigned @self_class(int c) {
    unsigned class = 0;
    class = class * 2 + !!isalpha(c);
    class = class * 2 + !!isdigit(c);
    class = class * 2 + !!isalnum(c);
    class = class * 2 + !!isspace(c);
    class = class * 2 + !!isupper(c);
    class = class * 2 + !!islower(c);
    class = class * 2 + !!ispunct(c);
    class = class * 2 + !!isxdigit(c);
    class = class * 2 + !!isprint(c);
    class = class * 2 + !!iscntrl(c);
    return class * 2 + !!isgraph(c);
}
@static uint64_t @self(void) {
    char text[64] = "@text";
    uint64_t hash = 7;
    for (char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (islower(c)) *at = (char)('a' + (c - 'a' + @rotation) % 26);
        else if (isupper(c)) *at = (char)tolower(c);
        else if (isdigit(c)) *at = (char)('0' + (c - '0' + 3) % 10);
        hash = hash * 31 + @self_class((unsigned char)*at) + (uint64_t)toupper((unsigned char)*at);
    }
    printf("rotated %s\n", text);
    for (int c = @start; c < 128; c += @stride) show("class", (uint64_t)c << 16 | @self_class(c));
    for (size_t i = 0; text[i]; i++) putchar(toupper((unsigned char)text[i]));
    putchar('\n');
    return hash;
}
"#,
        &values,
    );
}

fn number_texts(builder: &mut Builder) {
    builder.cover("strtol");
    builder.cover("sprintf");
    let scanning = builder.random.chance(90);
    if scanning {
        builder.cover("sscanf");
    }
    let scan = if scanning {
        r#"    int left = 0, fields = sscanf(text, "%d,%x %7s", &left, &right, word);
    show("scanned", (uint64_t)fields + (uint64_t)left * 16 + right);
    printf("word %s\n", word);
    fields = sscanf("12 -7 z", "%d %d %c", &left, &other, &letter);
    show("again", (uint64_t)(fields + left * 100 + other) + (uint64_t)letter);"#
    } else {
        r#"    (void)right, (void)other, (void)letter;
    puts(word);"#
    };
    let values = [
        ("scan", scan.to_string()),
        ("base", builder.choose(&["10", "16", "8", "0", "2", "36"])),
        ("digits", builder.choose(&["0x1fG", "0755", "-1011z", "  +42 rest", "99999999999", "zz", ""])),
        ("signed", builder.choose(&["-123", "2147483647", "  77abc", "x", "+0"])),
        ("wide", builder.choose(&["-9000000000", "123456789012345", "18", "-0"])),
        ("width", builder.number(1, 12)),
        ("room", builder.number(1, 20)),
    ];
    builder.section(
        "numbers",
        r#"
@static int @self_parse(const char *text) {
    int value = 0, sign = 1;
    while (*text == ' ') text++;
    if (*text == '-' || *text == '+') sign = *text++ == '-' ? -1 : 1;
    for (; *text >= '0' && *text <= '9' && value < 100000000; text++) value = value * 10 + (*text - '0');
    return sign * value;
}
@static uint64_t @self(void) {
    char text[80], small[24], word[8] = "none", letter = '?';
    uint32_t x = (uint32_t)take();
    unsigned right = 0;
    int other = 0;
    int length = sprintf(text, "%d,%x %s", (int)(x % 5000) - 2500, x, "word");
    printf("text %s (%d)\n", text, length);
@scan
    length = snprintf(small, @room, "%0*u|%s", @width, x, "tail");
    printf("small %s (%d)\n", small, length);
    char *end;
    const char *digits = "@digits";
    long long parsed = strtoll(digits, &end, @base);
    show("strtoll", (uint64_t)parsed * 100 + (uint64_t)(end - digits));
    unsigned long long plain = strtoull(digits, &end, @base);
    show("strtoull", (uint64_t)plain ^ (uint64_t)(*end != '\0'));
    show("strtol", (uint64_t)strtol("@signed", NULL, 10) + strtoul("4000", NULL, 16));
    show("atoi", (uint64_t)atoi("@signed") + (uint64_t)atoll("@wide") * 3 + (uint64_t)atol("17"));
    show("parse", (uint64_t)(@self_parse("@signed") == atoi("@signed")) + (uint64_t)@self_parse(text));
    printf("strtod %.6f %g\n", strtod("2.75e2xyz", NULL), atof("-0.5"));
    return x ^ (uint64_t)parsed ^ strlen(text);
}
"#,
        &values,
    );
}
