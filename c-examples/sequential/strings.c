// Strings: the functions of <string.h> and <ctype.h>, formatting into buffers, numbers from text.
//@ check: race deadlock misuse safety
//@ clean
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reverse(char *text)
{
    for (char *end = text + strlen(text); end - text > 1; text++) {
        char kept = *--end;
        *end = *text;
        *text = kept;
    }
}

int main(void)
{
    char buffer[64] = "stressed";
    reverse(buffer);
    strcat(buffer, " and ");
    strncat(buffer, "cheesecake", 6);
    printf("%s (%d)\n", buffer, (int)strlen(buffer));

    for (char *letter = buffer; *letter; letter++)
        *letter = (char)(isalpha((unsigned char)*letter) ? toupper((unsigned char)*letter) : '_');
    puts(buffer);
    printf("%s|%s|%d\n", strchr(buffer, '_'), strrchr(buffer, '_'), strcmp(buffer, "DESSERTS") > 0);
    printf("%s\n", strstr("the needle in the hay", "needle"));

    int wrote = snprintf(buffer, 8, "%d-%s", 12345, "long");
    printf("%s %d\n", buffer, wrote);
    memmove(buffer + 2, buffer, 6);
    printf("%.8s\n", buffer);
    memset(buffer, 'x', 3);
    printf("%s %d\n", buffer, memcmp(buffer, "xxx", 3));
    char *rest;
    long number = strtol("  -0x1fz", &rest, 16);
    printf("%ld %s %d\n", number, rest, atoi("77 men"));
    return (int)(number + 100);
}
