/* A second checker of proofs, after docs/reference/proof-format.md, to be compared with the first.

       cc -O2 -o butfor_check butfor_check.c -lm && ./butfor_check PROOF...

   It counts in whole numbers of 64 bits, and adds them up in 128. Where the page asks for fractions it computes with 113 bits and
   rounds so that the claim gets harder. It refuses what it has no room for: larger messages, grids of larger fractions.
   It checks the bound, and not the answer. It says VERIFIED, or why not, and returns how many proofs are not verified. */

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
_Static_assert(LDBL_MANT_DIG >= 113, "a compiler with floats of 113 bits is needed");
typedef long double quad;
#endif
typedef __int128 wide;
typedef int64_t whole;

#define ROOM ((whole)1 << 61) /* messages, rates and tolls are smaller */
#define FAR ((whole)1 << 62)  /* in place of what is not there */
#define SLACK ((quad)1e-29)   /* of the sizes of terms: more than rounding their sum can be, for 100,000 of them */

enum { FEATURES = 1000000 };

static jmp_buf out;
static char why[300];

static void wrong(const char *what, const char *about) {
    snprintf(why, sizeof why, "%s %.200s", what, about);
    longjmp(out, 1);
}
#define need(fact, what) do { if (!(fact)) wrong(what, ""); } while (0)

static void *room(size_t count, size_t size) { /* nothing is given back: a process checks a few files */
    need(count < ((size_t)1 << 40) / (size + 1), "too much memory");
    void *found = calloc(count + 1, size);
    need(found != NULL, "no memory");
    return found;
}

static void give_back(void *at) { free(*(void **)at); }
#define SPACE(type, name, count) __attribute__((cleanup(give_back))) type *name = room(count, sizeof(type)) /* until the end of its block */

#define more(list, count, space) do { if ((count) == (space)) { (space) = (space) ? 2 * (space) : 256; \
    (list) = realloc((list), (space) * sizeof *(list)); need((list) != NULL, "no memory"); } } while (0)

/* ------------------------------------------------------------------------------------------------------- files */

typedef struct { char *text; size_t size; } Text;

static Text opened(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) wrong("not there:", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    need(size >= 0 && size < 1L << 30, "a file that is too large");
    rewind(file);
    Text text = {room(size + 1, 1), size};
    size_t got = fread(text.text, 1, size, file);
    fclose(file);
    need(got == text.size, "a file that cannot be read");
    return text;
}

static uint32_t turned(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void sha256(const char *text, size_t size, char hex[65]) {
    static uint32_t k[64];
    uint32_t h[8];
    int found = 0;
    for (uint32_t n = 2; found < 64; n++) { /* the fractions of roots of primes */
        int prime = 1;
        for (uint32_t d = 2; d * d <= n; d++) prime &= n % d != 0;
        if (!prime) continue;
        long double root = cbrtl(n), square = sqrtl(n);
        k[found] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
        if (found < 8) h[found] = (uint32_t)((square - floorl(square)) * 4294967296.0L);
        found++;
    }
    size_t padded = (size + 9 + 63) / 64 * 64;
    unsigned char *data = room(padded, 1);
    memcpy(data, text, size);
    data[size] = 0x80;
    for (int i = 0; i < 8; i++) data[padded - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)data[at + 4 * i] << 24 | data[at + 4 * i + 1] << 16 | data[at + 4 * i + 2] << 8 | data[at + 4 * i + 3];
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + w[i - 7] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t a = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
            uint32_t b = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += a;
            v[0] = a + b;
        }
        for (int i = 0; i < 8; i++) h[i] += v[i];
    }
    free(data);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

/* -------------------------------------------------------------------------------------------------------- JSON */

typedef struct Json Json;
struct Json { char kind; char *text; int count, space; Json *items; char **keys; }; /* kind: one of {["0tfn */

static char *at_text, *end_text;

static void blank(void) { while (at_text < end_text && *at_text && strchr(" \t\r\n", *at_text)) at_text++; }

static unsigned four_digits(void) { /* hexadecimal ones */
    unsigned found = 0;
    for (int i = 0; i < 4; i++, at_text++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", *at = at_text < end_text && *at_text ? strchr(digits, *at_text) : NULL;
        need(at, "no JSON");
        found = 16 * found + (at - digits) % 16;
    }
    return found;
}

static char *escaped(char *to) { /* what stands behind a backslash, in UTF-8 */
    const char *marks = "\"\\/bfnrt", *at = at_text < end_text && *at_text ? strchr(marks, *at_text) : NULL;
    if (at) { at_text++; *to++ = "\"\\/\b\f\n\r\t"[at - marks]; return to; }
    need(at_text < end_text && *at_text++ == 'u', "no JSON");
    unsigned x = four_digits();
    if (x >= 0xD800 && x < 0xDC00) { /* the first of two halves */
        need(end_text - at_text > 6 && at_text[0] == '\\' && at_text[1] == 'u', "half a letter, which this checker does not read");
        at_text += 2;
        unsigned half = four_digits();
        need(half >= 0xDC00 && half < 0xE000, "half a letter, which this checker does not read");
        x = 0x10000 + ((x - 0xD800) << 10) + (half - 0xDC00);
    }
    need(x && (x < 0xD800 || x >= 0xE000), "a letter that this checker does not read");
    int more = (x >= 0x80) + (x >= 0x800) + (x >= 0x10000);
    *to++ = (char)(more ? (0xF00 >> more & 0xFF) | x >> 6 * more : x);
    while (more--) *to++ = (char)(0x80 | (x >> 6 * more & 0x3F));
    return to;
}

static char *said(void) { /* a text, between quotes */
    need(at_text < end_text && *at_text == '"', "no JSON");
    char *first = ++at_text, *to = first;
    while (at_text < end_text && *at_text != '"') {
        need((unsigned char)*at_text >= ' ', "no JSON");
        if (*at_text == '\\') { at_text++; to = escaped(to); }
        else *to++ = *at_text++;
    }
    need(at_text < end_text, "a text without an end");
    at_text++;
    *to = 0;
    return first;
}

static int is_number(const char *at) { /* as JSON writes them: no zero before other digits, and digits around a point */
    const char *digits = "0123456789";
    at += *at == '-';
    size_t whole_part = strspn(at, digits);
    if (!whole_part || (*at == '0' && whole_part > 1)) return 0;
    at += whole_part;
    if (*at == '.') {
        if (!strspn(at + 1, digits)) return 0;
        at += 1 + strspn(at + 1, digits);
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (!strspn(at, digits)) return 0;
        at += strspn(at, digits);
    }
    return !*at;
}

static Json parsed_part(int depth) {
    Json found = {0};
    blank();
    need(at_text < end_text && depth < 60, "no JSON");
    char c = *at_text;
    if (c == '{' || c == '[') {
        found.kind = c;
        at_text++;
        blank();
        if (at_text < end_text && *at_text == c + 2) { at_text++; return found; }
        for (;;) {
            if (found.count == found.space) {
                found.space = found.space ? 2 * found.space : 4;
                found.items = realloc(found.items, found.space * sizeof(Json));
                found.keys = realloc(found.keys, found.space * sizeof(char *));
                need(found.items && found.keys, "no memory");
            }
            if (c == '{') {
                blank();
                char *key = said();
                need(found.count < 10000, "more keys than this checker counts");
                for (int i = 0; i < found.count; i++) need(strcmp(found.keys[i], key), "a key is there twice");
                found.keys[found.count] = key;
                blank();
                need(at_text < end_text && *at_text == ':', "no JSON");
                at_text++;
            }
            found.items[found.count] = parsed_part(depth + 1);
            found.count++;
            blank();
            need(at_text < end_text && (*at_text == ',' || *at_text == c + 2), "no JSON");
            if (*at_text++ == c + 2) return found;
        }
    }
    if (c == '"') { found.kind = '"'; found.text = said(); return found; }
    char *first = at_text;
    while (at_text < end_text && !strchr(",]} \t\r\n", *at_text)) at_text++;
    size_t size = at_text - first;
    need(size > 0 && size < 400, "no number");
    found.text = room(size + 1, 1);
    memcpy(found.text, first, size);
    found.kind = !strcmp(found.text, "null") ? 'n' : !strcmp(found.text, "true") ? 't' : !strcmp(found.text, "false") ? 'f' : '0';
    need(found.kind != '0' || is_number(found.text), "no number");
    return found;
}

static Json parsed(const char *text, size_t size) {
    char *copy = room(size + 1, 1);
    memcpy(copy, text, size);
    at_text = copy;
    end_text = copy + size;
    Json found = parsed_part(0);
    blank();
    need(at_text == end_text, "more than one thing");
    return found;
}

static Json *maybe(Json *of, const char *key) {
    need(of->kind == '{', "no object");
    for (int i = 0; i < of->count; i++) if (!strcmp(of->keys[i], key)) return of->items + i;
    return NULL;
}

static Json *part(Json *of, const char *key) {
    Json *found = maybe(of, key);
    if (!found) wrong("missing:", key);
    return found;
}

static Json *list(Json *of) { need(of->kind == '[', "no list"); return of; }
static char *text_of(Json *of) { need(of->kind == '"', "no text"); return of->text; }
static int is(Json *of, const char *text) { return of->kind == '"' && !strcmp(of->text, text); }
static int truth(Json *of) { need(of->kind == 't' || of->kind == 'f', "neither true nor false"); return of->kind == 't'; }

static whole number(Json *of, whole low, whole high) { /* a whole number from low to below high */
    need(of->kind == '0' && strspn(of->text, "-0123456789") == strlen(of->text) && strlen(of->text) < 20, "no whole number, or too large");
    char *end;
    long long x = strtoll(of->text, &end, 10);
    need(!*end && end != of->text && x >= low && x < high, "a whole number out of its range");
    return x;
}

static whole written(Json *of, whole low, whole high) { /* a whole number as a text */
    Json found = parsed(text_of(of), strlen(of->text));
    return number(&found, low, high);
}

static double real(Json *of) { /* a hexadecimal float, or a whole number */
    if (of->kind == '0') return (double)number(of, -((whole)1 << 53) + 1, (whole)1 << 53);
    char *text = text_of(of), *end;
    need(strlen(text) < 40 && !strncmp(text + (*text == '-'), "0x", 2), "no hexadecimal number");
    double x = strtod(text, &end);
    need(!*end && fabs(x) < 1e300, "no finite number");
    return x;
}

static quad large(Json *of) { /* a whole number from 0 to below 2^200; beyond 113 bits it is rounded, as any number proves something true */
    need(of->kind == '0' && strspn(of->text, "0123456789") == strlen(of->text), "no whole number, or a negative one");
    quad x = 0;
    for (char *at = of->text; *at; at++) x = 10 * x + (*at - '0');
    need(x < (quad)ldexp(1, 200), "a whole number out of its range");
    return x;
}

static Json *item(Json *of, int k) { return of->kind == '[' ? of->items + k : of; } /* of a list, or of one thing in place of it */
static int length(Json *of) { return of->kind == '[' ? of->count : 1; }

/* ------------------------------------------------------------------------------------------------------ models */

/* value <= cut goes to the left, or a whole number in the set does, and a missing value (NaN) if lost is 1; -1 if that is not said.
   A leaf has left < 0. What it adds to each sum is twice as exact as a double; its scores count towards each goal of each way. */
typedef struct { int feature, left, right, lost; double cut; unsigned char *set; int size; quad *adds; whole *score; } Node;
typedef struct { Node *nodes; int count; } Tree;
enum { LOGISTIC, SHARES, VALUE, LARGEST, SCORE, MEAN, LEAVES, VOTES, STACK };

typedef struct { quad weight, slope, shift, off, *x, *y, rough; int straight, bent, turned, power, knots; } Curve;
/* What a mean, or a stack, makes of a sum x: weight times share(x), or x, or share(slope share(x) + shift); turned: what the other class gets, of -x.
   knots: so many points, between which are lines in place of the share outside; what the estimator makes of them may be off by rough.
   power: what the odds of a rival add, slope exp(x), but at most 2 (1), or -slope exp(-x) (-1). */

typedef struct { int *plus, *less, steps; double *says; } Path; /* a leaf of an oblique tree: which sums are not below which on the way */

typedef struct { int units, sums; quad *leak, *base, **weight; } Layer; /* a unit passes on x, or leak times x below 0; base and weight of each next sum */

typedef struct { int kind, at, sums, classes, alone; double step; quad over; } Asked; /* a model; at: how many sums come before its own; over: what these are divided by; alone: one tree, nothing is added */

/* Nothing is added to the first sum, which is the same for all models. One besides speaks for class 1; of several, each is that of a class.
   Models together have their sums one after the other; kind and step are those of the first. ballots: how much the vote of each sum counts.
   weight: what the sizes of the weights of curves add up to; end: what a stack adds besides; end_off: by how much all of that may be off.
   Weighted sums begin at starts: of each feature, what a unit adds to each of them. */
static struct {
    Tree *trees; int count, kind, single, plain, votes, sums, asked_count; Asked *asked;
    quad *base, *doubts, *off, *extra, *ballots, weight, end, end_off; double step, *steps; Curve *curves;
    quad **weights, *starts; int features, inputs; Path *paths; int path_count;
    quad **slopes, *sizes; int slope_count, *terms; /* of each feature that is weighed beside trees; of sums of trees: their largest leaves, and how many trees add */
    Layer *layers; int layer_count, units, widest; /* what a network makes of weighted sums; widest: the most sums at once */
} model, alone; /* alone: as its file says, if a network stands beside itself */

static quad quad_log(quad x) { /* by the series of the inverse hyperbolic tangent; off by less than 1e-30 */
    quad two = 0, out = 0, term = (quad)1 / 3;
    for (int n = 1; n < 150; n += 2, term /= 9) two += 2 * term / n;
    int power = 0;
    while (x > (quad)1.5) x /= 2, power++;
    while (x < (quad)0.75) x *= 2, power--;
    quad z = (x - 1) / (x + 1), at = z;
    for (int n = 1; n < 150; n += 2, at *= z * z) out += 2 * at / n;
    return out + power * two;
}
static quad quad_abs(quad x) { return x < 0 ? -x : x; }
static quad quad_exp(quad x) { /* by its series, after the powers of two; off by less than 1e-30 of itself */
    static quad two = 0;
    if (two == 0) two = quad_log(2);
    quad out = 0, term = 1;
    int power = (int)(x / two);
    for (int n = 1; n < 60; n++, term *= (x - power * two) / (n - 1)) out += term;
    for (; power > 0; power--) out *= 2;
    for (; power < 0; power++) out /= 2;
    return out;
}
static quad share(quad x) { return 1 / (1 + quad_exp(x < -700 ? 700 : x > 700 ? -700 : -x)); } /* off by less than 1e-28 */
static quad logit(quad p) { return quad_log(p / (1 - p)); }

static quad line_in(const Curve *c, quad x, int side) { /* the line inside, at least (-1) or at most (1) */
    return c->slope * share(x) + c->shift + side * (c->off + (1 + c->slope + quad_abs(c->shift)) * (quad)1e-28);
}
static quad outside(const Curve *c, quad x, int side) { /* a share, or a place on the lines between knots, at least (-1) or at most (1) */
    int k = 0;
    if (!c->knots) return share(x) + side * (quad)1e-28;
    while (k < c->knots && c->x[k] < x) k++;
    quad y = c->y[k < c->knots ? k : k - 1], spare = 0;
    if (k > 0 && k < c->knots) {
        quad slope = (y - c->y[k - 1]) / (c->x[k] - c->x[k - 1]);
        y -= slope * (c->x[k] - x);
        spare = slope * (1 + quad_abs(x)) * (quad)1e-30;
    }
    return y + side * (c->rough + spare + (1 + quad_abs(y)) * (quad)1e-28);
}
static quad adds(const Curve *c, quad x, int side) { /* what a sum adds to the mean */
    if (c->power) {
        x *= c->power;
        quad odds = c->slope * quad_exp(x > 1000 ? 1000 : x < -1000 ? -1000 : x);
        odds *= x < -1000 && side * c->power < 0 ? 0 : 1 + side * c->power * (quad)1e-28;
        return c->power < 0 ? -odds : odds < 2 ? odds : 2;
    }
    if (c->straight) return c->weight * (x + c->turned + side * (1 + quad_abs(x)) * (quad)1e-28);
    return c->weight * outside(c, c->bent ? line_in(c, x, side) : x, side);
}

static int kind_of(Json *sum) {
    const char *kinds[] = {"logistic", "shares", "value", "largest", "score", "mean", "leaves", "votes", "stack"};
    int kind = 0;
    while (kind < 9 && !is(sum, kinds[kind])) kind++;
    need(kind < 9, "its sum is not known");
    return kind;
}

static int of_curves(void) { return model.kind == MEAN || model.kind == STACK; } /* sums are asked together, through their curves */
static double step_of(Json *digits) { return ldexp(1, digits ? -(int)number(digits, 24, 54) : -53); }
static int by_class(const Asked *its) { return its->kind == LARGEST || its->kind == SHARES; } /* a sum for each class */
static int sum_of(const Asked *its, int class) { return by_class(its) ? its->at + 1 + class : class ? its->at + 1 : 0; }

static Asked other(Json *told, int end) { /* another model, whose sums end there */
    int sums = (int)number(part(told, "sums"), 1, end);
    return (Asked){kind_of(part(told, "sum")), end - sums, sums, 2, 0, step_of(part(told, "digits")), number(part(told, "over"), 1, 1000000)};
}

static void begin(int kind, int sums, Json *others) { /* what is made of the sums, and how many there are, those of others included */
    need(sums > 0, "no sum");
    need(sums < 100, "more classes than this checker counts");
    model.kind = kind;
    model.sums = sums + 1;
    model.base = room(model.sums, sizeof(quad));
    model.doubts = room(model.sums, sizeof(quad));
    model.off = room(model.sums, sizeof(quad)); /* what a sum may be off by besides */
    model.extra = room(model.sums, sizeof(quad)); /* and what it is off by because of its kind */
    model.steps = room(model.sums, sizeof(double));
    model.asked_count = 1 + (others ? list(others)->count : 0);
    model.asked = room(model.asked_count, sizeof(Asked));
    for (int i = model.asked_count - 1, end = sums; i >= 0; end = model.asked[i--].at) {
        Asked *its = model.asked + i;
        *its = i ? other(others->items + i - 1, end) : (Asked){kind, 0, end, 2, 0, model.step, 1};
        need(its->kind < MEAN || model.asked_count == 1, "several models, of which one is no sum");
        need(its->kind >= MEAN || (its->sums > 1) == by_class(its), "another number of sums");
        if (by_class(its)) its->classes = its->sums;
        for (int k = its->at + 1; k <= end; k++) {
            model.steps[k] = its->step;
            if (its->kind == LARGEST) model.extra[k] = 8 * (quad)its->step;
        }
    }
}

static quad *leaf(quad value, int which) { /* what a leaf adds, to one of the sums */
    quad *adds = room(model.sums, sizeof(quad));
    adds[1 + which] = value;
    return adds;
}

static void grown(Tree *tree) { /* children come after their one parent, so every walk ends, and no node is met twice */
    need(tree->count > 0, "a tree without nodes");
    SPACE(char, met, tree->count);
    for (int i = 0; i < tree->count; i++) {
        Node *n = tree->nodes + i;
        need((n->left < 0) == (n->adds != NULL), "a node that is neither a split nor a leaf");
        if (n->left < 0) continue;
        need(n->feature >= 0 && n->feature < FEATURES, "a feature out of range");
        need(n->left > i && n->left < tree->count && n->right > i && n->right < tree->count, "a child before its parent");
        need(n->left != n->right && !met[n->left]++ && !met[n->right]++, "a node that two ways lead to");
    }
}

static float single(Json *of) { /* the decimal is rounded once */
    need(of->kind == '0' && strlen(of->text) < 60, "no number");
    float x = strtof(of->text, NULL);
    need(isfinite(x), "a number that float32 does not hold");
    return x;
}

static double decimal(Json *of) {
    need(of->kind == '0' && strlen(of->text) < 60, "no number");
    double x = strtod(of->text, NULL);
    need(isfinite(x), "a number that is too large");
    return x;
}

static double single_below(double x) { /* the largest float32 that is not above it */
    float near = (float)x;
    need(near > -INFINITY, "a number that float32 does not hold");
    return (double)near <= x ? near : nextafterf(near, -INFINITY);
}

static void read_xgboost(Text data) {
    Json all = parsed(data.text, data.size), *learner = part(&all, "learner"), *booster = part(learner, "gradient_booster");
    char *objective = text_of(part(part(learner, "objective"), "name"));
    int several = !strcmp(objective, "multi:softprob") || !strcmp(objective, "multi:softmax");
    need(several || !strcmp(objective, "binary:logistic") || !strcmp(objective, "reg:squarederror"), "an objective that is not read");
    model.single = 1;
    model.step = ldexp(1, -24);
    need(is(part(booster, "name"), "gbtree"), "no trees, or weighted ones");
    Json *attributes = maybe(learner, "attributes"), *about = part(learner, "learner_model_param");
    need(!attributes || !maybe(attributes, "best_iteration"), "training stopped early");
    Json *targets = maybe(about, "num_target"), *classes = maybe(about, "num_class");
    int sums = classes ? (int)written(classes, 0, 10000) : 1;
    sums += !sums;
    if (targets) written(targets, 0, 2); /* one score for each class */
    begin(several ? LARGEST : strcmp(objective, "binary:logistic") ? VALUE : LOGISTIC, sums, NULL);
    char *score = text_of(part(about, "base_score"));
    Json given = parsed(score, strlen(score));
    need(given.kind != '[' || given.count == sums, "more scores than classes");
    for (int k = 0; k < sums; k++) model.base[k + 1] = single(given.kind == '[' ? given.items + k : &given);
    Json *trees = list(part(part(booster, "model"), "trees")), *which_class = list(part(part(booster, "model"), "tree_info"));
    need(which_class->count == trees->count, "not every tree has a class");
    Json *ends = maybe(part(booster, "model"), "iteration_indptr"); /* of iterations: XGBoost adds up the trees from the first to the last */
    for (int k = 0, from = 0; ends && k < list(ends)->count; k++) {
        from = (int)number(ends->items + k, from, trees->count + 1);
        need(k || !from, "not all trees count");
        need(k < ends->count - 1 || from == trees->count, "not all trees count");
    }
    need(!ends || ends->count, "not all trees count");
    Json *weights = maybe(part(booster, "model"), "weight_drop");
    for (int t = 0; weights && t < list(weights)->count; t++) need(single(weights->items + t) == 1, "trees with weights");
    model.trees = room(model.count = trees->count, sizeof(Tree));
    for (int t = 0; t < trees->count; t++) {
        int of = (int)number(which_class->items + t, 0, sums);
        number(part(trees->items + t, "id"), t, t + 1); /* a tree in its place */
        written(part(part(trees->items + t, "tree_param"), "size_leaf_vector"), 0, 2); /* leaves of one number */
        Json *tree = trees->items + t, *left = list(part(tree, "left_children")), *right = list(part(tree, "right_children"));
        Json *lost = list(part(tree, "default_left")), *at = list(part(tree, "split_indices")), *cut = list(part(tree, "split_conditions")), *kind = list(part(tree, "split_type"));
        int n = left->count;
        need(right->count == n && lost->count == n && at->count == n && cut->count == n && kind->count == n, "lists of several lengths");
        Node *nodes = room(n, sizeof(Node));
        for (int i = 0; i < n; i++) {
            nodes[i].left = (int)number(left->items + i, -1, n);
            nodes[i].right = (int)number(right->items + i, -1, n);
            nodes[i].lost = (int)number(lost->items + i, 0, 2);
            nodes[i].feature = (int)number(at->items + i, 0, 1 << 30);
            float x = single(cut->items + i);
            if (nodes[i].left < 0) nodes[i].adds = leaf(x, of);
            else nodes[i].cut = nextafterf(x, -INFINITY);
        }
        Json *which = list(part(tree, "categories_nodes")), *from = list(part(tree, "categories_segments"));
        Json *sizes = list(part(tree, "categories_sizes")), *categories = list(part(tree, "categories"));
        need(from->count == which->count && sizes->count == which->count, "lists of several lengths");
        for (int k = 0; k < which->count; k++) { /* the set goes to the right */
            Node *node = nodes + number(which->items + k, k ? number(which->items + k - 1, 0, n) + 1 : 0, n);
            whole first = number(from->items + k, 0, categories->count + 1), size = number(sizes->items + k, 0, categories->count + 1 - first);
            if (node->left >= 0) {
                int other = node->left;
                node->left = node->right;
                node->right = other;
                node->lost = !node->lost;
            }
            node->set = room(node->size = 1 << 16, 1);
            for (whole c = first; c < first + size; c++) node->set[number(categories->items + c, 0, 1 << 16)] = 1;
        }
        for (int i = 0; i < n; i++) need(number(kind->items + i, 0, 2) == (nodes[i].set != NULL), "a set that is missing, or of no split");
        model.trees[t] = (Tree){nodes, n};
    }
    if (model.kind == LOGISTIC) {
        quad p = model.base[1];
        need(p > 0 && p < 1, "the base score is no probability");
        model.base[1] = logit(p);
        model.extra[1] = 4 * (quad)model.step * (quad_abs(model.base[1]) + 1 + 1 / (1 - p)) + (quad)1e-28;
    }
}

enum { OBJECTIVE, CLASSES, EACH, TREE_SIZES, AVERAGED, HEAD_KEYS };
enum { NUM_LEAVES, NUM_CAT, IS_LINEAR, LEAF_VALUE, THRESHOLD, FEATURE, DECISION, LEFT, RIGHT, BOUNDARIES, SETS, TREE_KEYS = 18 };
static const char *const head_keys[] = {"objective", "num_class", "num_tree_per_iteration", "tree_sizes", "average_output"};
static const char *const tree_keys[] = {
    "num_leaves", "num_cat", "is_linear", "leaf_value", "threshold", "split_feature", "decision_type", "left_child", "right_child", "cat_boundaries",
    "cat_threshold", "split_gain", "leaf_weight", "leaf_count", "internal_value", "internal_weight", "internal_count", "shrinkage"};

static void keyed(char *line, const char *const *keys, int count, int only, char **found) { /* a line `key=value`; only: whether no other key may be there */
    size_t size = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
    int k = 0, ends = !line[size];
    need(size && (ends || line[size] == '='), "a line that is not read");
    while (k < count && (strlen(keys[k]) != size || strncmp(keys[k], line, size))) k++;
    need(k < count || !only, "a line that is not read");
    if (k == count) return;
    need(!found[k], "a key is there twice");
    found[k] = line + size + !ends;
}

static Json listed(const char *value) { /* the numbers of a line, with a blank between two; of a line that is not there none */
    size_t size = value ? strlen(value) : 0;
    SPACE(char, text, size + 3);
    snprintf(text, size + 3, "[%s]", size ? value : "");
    need(strspn(text + 1, "-+.e0123456789 ") == size, "a list of other things than numbers");
    for (char *at = text; *at; at++) if (*at == ' ') *at = ',';
    return parsed(text, size + 2);
}

static whole only(const char *value, whole low, whole high) { /* the one number of a line */
    Json found = listed(value);
    need(found.count == 1, "a number that is missing");
    return number(found.items, low, high);
}

static Tree lines_of_tree(char **said, int of) { /* which adds to one of the sums */
    Json its[TREE_KEYS];
    for (int k = LEAF_VALUE; k <= SETS; k++) its[k] = listed(said[k]);
    int leaves = its[LEAF_VALUE].count, inner = leaves - 1, sets = its[BOUNDARIES].count - 1;
    need(!said[IS_LINEAR] || !strcmp(said[IS_LINEAR], "0"), "linear leaves are not read");
    need(leaves > 0 && only(said[NUM_LEAVES], 1, 1 << 28) == leaves, "not as many leaves as are told");
    for (int k = THRESHOLD; k <= RIGHT; k++) need(its[k].count == inner, "lists of several lengths");
    need(only(said[NUM_CAT], 0, 1 << 28) == (sets < 0 ? 0 : sets), "not as many sets as are told");
    need(sets >= 0 || its[SETS].count == 0, "sets that are not there");
    for (int k = 0, from = 0; k <= sets; k++) {
        from = (int)number(its[BOUNDARIES].items + k, k == sets ? its[SETS].count : from, (k ? its[SETS].count : 0) + 1);
        need(k || !from, "sets that are not there");
    }
    Node *nodes = room(inner + leaves, sizeof(Node));
    for (int i = 0; i < inner; i++) {
        Node *node = nodes + i;
        int kind = (int)number(its[DECISION].items + i, 0, 12), *child[] = {&node->left, &node->right};
        need(kind >> 2 != 1, "zeros that mean missing are not read");
        node->feature = (int)number(its[FEATURE].items + i, 0, FEATURES);
        for (int k = 0; k < 2; k++) {
            whole at = number(its[LEFT + k].items + i, -leaves, inner);
            *child[k] = (int)(at >= 0 ? at : inner + ~at);
        }
        node->cut = decimal(its[THRESHOLD].items + i); /* where none was missing, it is read as 0 */
        node->lost = !(kind & 1) && (kind >> 2 == 2 ? (kind & 2) != 0 : node->cut >= 0);
        if (!(kind & 1)) continue;
        whole k = number(its[THRESHOLD].items + i, 0, sets), from = number(its[BOUNDARIES].items + k, 0, FAR);
        whole size = number(its[BOUNDARIES].items + k + 1, from, FAR) - from;
        need(size <= 1 << 11, "a larger set than this checker counts");
        node->set = room(node->size = 32 * (int)size, 1);
        for (int c = 0; c < node->size; c++) node->set[c] = number(its[SETS].items + from + c / 32, 0, (whole)1 << 32) >> c % 32 & 1;
    }
    for (int i = 0; i < leaves; i++) nodes[inner + i] = (Node){.left = -1, .adds = leaf(decimal(its[LEAF_VALUE].items + i), of)};
    return (Tree){nodes, inner + leaves};
}

static int begin_lightgbm(char **said) { /* what the head says; returns how many sums there are */
    int sums = (int)only(said[CLASSES], 1, 10000);
    char several[60];
    snprintf(several, sizeof several, "multiclass num_class:%d", sums);
    need(said[OBJECTIVE] && said[EACH] && !strcmp(said[EACH], said[CLASSES]), "no objective, or other scores than classes");
    need(!said[AVERAGED], "a forest of LightGBM is not read");
    int is_one = !strcmp(said[OBJECTIVE], "binary sigmoid:1"), value = !strcmp(said[OBJECTIVE], "regression");
    need(is_one || value || !strcmp(said[OBJECTIVE], several), "an objective that is not read");
    begin(is_one ? LOGISTIC : value ? VALUE : LARGEST, sums, NULL);
    return sums;
}

/* LightGBM reads a tree up to an empty line, finds the next one by the sizes in the head, and takes the last of equal keys.
   So no line may stand where it does not look, or be there twice. */
static void read_lightgbm(Text data) {
    model.step = ldexp(1, -53);
    char *begun = NULL, *head[HEAD_KEYS] = {0}, *its[TREE_KEYS] = {0};
    int trees = 0, done = 0, sums = 0, closed = 0;
    Json sizes = {0};
    for (size_t i = 0; i + 6 < data.size; i++) trees += !memcmp(data.text + i, "\nTree=", 6);
    model.trees = room(trees, sizeof(Tree));
    for (char *line = data.text, *end; !done; line = end + 1) {
        end = memchr(line, '\n', data.text + data.size - line);
        need(end && !memchr(line, '\r', end - line) && !memchr(line, 0, end - line), "a text without an end, or with other ends of lines");
        *end = 0;
        done = !strcmp(line, "end of trees");
        if (done || (line != data.text && !strncmp(line, "Tree=", 5))) {
            if (begun) {
                need(closed, "a tree without an end");
                if (head[TREE_SIZES]) number(sizes.items + model.count, line - begun, line - begun + 1);
                model.trees[model.count] = lines_of_tree(its, model.count % sums);
                model.count++;
            } else sums = begin_lightgbm(head), sizes = listed(head[TREE_SIZES]);
            need(!head[TREE_SIZES] || sizes.count > model.count - done, "more trees than the head says");
            memset(its, 0, sizeof its);
            begun = line;
            closed = 0;
        } else if (!*line) closed = 1;
        else if (!begun) keyed(line, head_keys, HEAD_KEYS, 0, head);
        else { need(!closed, "lines behind the end of a tree"); keyed(line, tree_keys, TREE_KEYS, 1, its); }
    }
    need(!head[TREE_SIZES] || sizes.count == model.count, "fewer trees than the head says");
    need(model.count % sums == 0, "other trees than classes");
}

static void read_knots(Curve *c, Json *knots, Json *off) {
    if (!knots) return;
    need(!c->straight && list(knots)->count > 0 && off, "knots of what is straight, or none, or without a doubt");
    c->knots = knots->count;
    c->x = room(c->knots, sizeof(quad));
    c->y = room(c->knots, sizeof(quad));
    c->rough = real(off);
    need(c->rough >= 0, "a doubt of knots that is below 0");
    for (int k = 0; k < c->knots; k++) {
        need(list(knots->items + k)->count == 2, "a knot that is no pair");
        c->x[k] = real(knots->items[k].items);
        c->y[k] = real(knots->items[k].items + 1);
        need(k == 0 || (c->x[k] > c->x[k - 1] && c->y[k] >= c->y[k - 1]), "knots that fall");
    }
}

static void turn_knots(Curve *c) { /* what the other class gets: 1 less, of -x */
    quad *x = room(c->knots, sizeof(quad)), *y = room(c->knots, sizeof(quad));
    for (int k = 0; k < c->knots; k++) x[c->knots - 1 - k] = -c->x[k], y[c->knots - 1 - k] = 1 - c->y[k];
    c->x = x;
    c->y = y;
}

static void read_curves(Json *all) { /* of a mean, or a stack; if nothing is said, of the shares of all sums */
    Json *told = maybe(all, "curves"), *end = maybe(all, "end");
    need(!told || of_curves(), "curves of sums that are no mean");
    need(!told || list(told)->count == model.sums - 1, "not a curve for each sum");
    model.curves = room(model.sums, sizeof(Curve));
    for (int k = 0; k < model.sums - 1; k++) {
        Curve *c = model.curves + k;
        Json *straight = told ? maybe(told->items + k, "straight") : NULL, *bend = told ? maybe(told->items + k, "bend") : NULL;
        c->weight = told ? real(part(told->items + k, "weight")) : 1;
        c->straight = straight && truth(straight);
        c->bent = bend && list(bend)->count > 0;
        need((c->weight > 0 || (c->weight < 0 && model.kind == STACK)) && !(c->straight && c->bent), "a curve that is not read");
        model.weight += quad_abs(c->weight);
        read_knots(c, told ? maybe(told->items + k, "knots") : NULL, told ? maybe(told->items + k, "off") : NULL);
        if (!c->bent) continue;
        need(bend->count == 3, "a bend of other numbers");
        c->slope = real(bend->items);
        c->shift = real(bend->items + 1);
        c->off = real(bend->items + 2);
        need(c->slope >= 0 && c->off >= 0, "a bend that falls, or a doubt below 0");
    }
    need((model.kind == STACK) == (end != NULL), "a stack without an end, or an end without a stack");
    need(!end || list(end)->count == 2, "not an end and its doubt");
    model.end = end ? real(end->items) : 0;
    model.end_off = end ? real(end->items + 1) : 0;
    need(model.end_off >= 0, "a negative doubt");
    model.end_off += (14 + model.sums) * (quad)model.step * (model.weight + quad_abs(model.end));
    model.end_off *= 1 + (quad)1e-30;
}

static void read_ballots(Json *all) {
    Json *told = maybe(all, "ballots");
    int count = told ? list(told)->count : 0;
    need(count == (model.kind == VOTES ? model.sums - 1 : 0) && count < 13, "not a vote for each sum, or too many");
    model.ballots = room(count, sizeof(quad));
    for (int k = 0; k < count; k++) need((model.ballots[k] = real(told->items + k)) > 0, "a vote that counts nothing");
}

static void read_slopes(Json *told) { /* of each sum, what a unit of each feature adds besides trees */
    if (!told) return;
    need(list(told)->count == model.sums - 1, "not weights for each sum");
    model.slope_count = list(told->items)->count;
    need(!model.single || !model.slope_count, "weights of what is read as float32");
    model.slopes = room(model.slope_count, sizeof(quad *));
    for (int f = 0; f < model.slope_count; f++) model.slopes[f] = room(model.sums, sizeof(quad));
    for (int k = 0; k < told->count; k++) {
        need(list(told->items + k)->count == model.slope_count, "not a weight of each feature for each sum");
        for (int f = 0; f < model.slope_count; f++) model.slopes[f][k + 1] = real(told->items[k].items + f);
    }
}

static void read_arrays(Text data) {
    Json all = parsed(data.text, data.size), *trees = list(part(&all, "trees"));
    need(is(part(&all, "format"), "butfor.forest/1"), "its format is not known");
    Json *reads = part(&all, "reads"), *sum = part(&all, "sum");
    need(is(reads, "float32") || is(reads, "float64"), "what it reads is not known");
    int kind = kind_of(sum);
    need(kind != LEAVES, "its sum is not known");
    model.single = is(reads, "float32");
    Json *base = part(&all, "base"), *digits = maybe(&all, "digits"), *off = maybe(&all, "off"), *over = maybe(&all, "over");
    model.step = step_of(digits);
    int sums = base->kind == '[' ? base->count : 1;
    begin(kind, sums, maybe(&all, "others"));
    need(!off || list(off)->count == sums, "not a doubt for each sum");
    for (int k = 0; off && k < sums; k++) need((model.off[k + 1] = real(off->items + k)) >= 0, "a doubt below 0");
    double scale = real(part(&all, "scale"));
    model.plain = scale == 1;
    for (int k = 0; k < sums; k++) model.base[k + 1] = real(base->kind == '[' ? base->items + k : base);
    read_curves(&all);
    read_ballots(&all);
    read_slopes(maybe(&all, "weights"));
    int mean = truth(part(&all, "mean"));
    need(!mean || kind < MEAN, "a mean of means, or of votes");
    if (mean) model.asked->over = over ? number(over, 1, 1000000) : trees->count;
    model.trees = room(model.count = trees->count, sizeof(Tree));
    for (int t = 0; t < trees->count; t++) {
        const char *keys[] = {"feature", "cut", "left", "right", "value"};
        Json *tree = trees->items + t, *its[5], *lost = maybe(tree, "missing"), *class_of = maybe(tree, "of");
        int of = class_of ? (int)number(class_of, 0, sums) : 0;
        for (int k = 0; k < 5; k++) its[k] = list(part(tree, keys[k]));
        int n = its[0]->count;
        for (int k = 1; k < 5; k++) need(its[k]->count == n, "lists of several lengths");
        need(!lost || list(lost)->count == n, "lists of several lengths");
        Node *nodes = room(n, sizeof(Node));
        for (int i = 0; i < n; i++) {
            Node *node = nodes + i;
            node->lost = lost && lost->items[i].kind != 'n' ? (int)number(lost->items + i, 0, 2) : -1;
            node->left = (int)number(its[2]->items + i, -n - 1, n);
            node->right = (int)number(its[3]->items + i, -n - 1, n);
            Json *value = its[4]->items + i, *cut = its[1]->items + i;
            if (node->left < 0 && value->kind == '[') {
                need(value->count == sums, "a leaf of other numbers than classes");
                node->adds = leaf(0, 0);
                for (int k = 0; k < sums; k++) node->adds[k + 1] = (quad)scale * real(value->items + k);
            } else if (node->left < 0) node->adds = leaf((quad)scale * real(value), of); /* 106 bits at most */
            else if (is(cut, "inf") || is(cut, "-inf")) {
                node->feature = (int)number(its[0]->items + i, 0, 1 << 30);
                node->cut = is(cut, "inf") ? INFINITY : -INFINITY; /* only a missing value goes to the other side */
            } else {
                node->feature = (int)number(its[0]->items + i, 0, 1 << 30);
                node->cut = real(cut);
                if (model.single) {
                    node->cut = single_below(node->cut);
                }
            }
        }
        model.trees[t] = (Tree){nodes, n};
    }
}

typedef struct { whole own; int feature, lost; float cut; } Border; /* own: its feature, as splits name it */

/* All nodes of a level of a tree have one split. CatBoost counts the borders of a feature below a value, and finds the split by its number
   among the borders of all. */
static void read_catboost(Text data) {
    Json all = parsed(data.text, data.size), *about = part(&all, "features_info"), *scale = list(part(&all, "scale_and_bias"));
    Json *objective = part(part(part(part(&all, "model_info"), "params"), "loss_function"), "type"), *categories = maybe(about, "categorical_features");
    int value = is(objective, "RMSE"), several = is(objective, "MultiClass");
    need(value || several || is(objective, "Logloss"), "an objective that is not read");
    Json *threshold = maybe(part(&all, "model_info"), "binclass_probability_threshold");
    need(!threshold || is(threshold, "0.5"), "a threshold of its own");
    need(scale->count == 2 && decimal(scale->items) == 1, "a scale");
    need(!categories || !list(categories)->count, "categories of CatBoost are not read");
    model.single = 1;
    model.step = ldexp(1, -53);
    Json *base = list(scale->items + 1), *features = list(part(about, "float_features")), *trees = list(part(&all, "oblivious_trees"));
    int sums = base->count;
    begin(value ? VALUE : several ? LARGEST : LOGISTIC, sums, NULL);
    for (int k = 0; k < sums; k++) model.base[k + 1] = decimal(base->items + k);
    model.trees = room(model.count = trees->count, sizeof(Tree));
    int border_count = 0, border_space = 0, place = -1;
    Border *borders = NULL;
    for (int f = 0; f < features->count; f++) {
        Json *feature = features->items + f, *its = list(part(feature, "borders")), *lost = maybe(feature, "nan_value_treatment");
        place = (int)number(part(feature, "flat_feature_index"), place + 1, FEATURES);
        for (int k = 0; k < its->count; k++) {
            more(borders, border_count, border_space);
            Border *border = borders + border_count++;
            *border = (Border){number(part(feature, "feature_index"), 0, FEATURES), place, lost && is(lost, "AsFalse") ? 1 : lost && is(lost, "AsTrue") ? 0 : -1, single(its->items + k)};
            need(!k || border[-1].cut <= border->cut, "borders that fall");
        }
    }
    for (int t = 0; t < trees->count; t++) {
        Json *splits = list(part(trees->items + t, "splits")), *values = list(part(trees->items + t, "leaf_values"));
        int levels = splits->count, inner = levels < 20 ? (1 << levels) - 1 : -1;
        need(inner >= 0 && values->count == sums * (inner + 1), "a tree with other leaves than its splits make");
        Node *nodes = room(2 * inner + 1, sizeof(Node));
        for (int i = 0; i < inner; i++) { /* the last split comes first */
            int level = 31 - __builtin_clz(i + 1);
            Json *split = splits->items + levels - 1 - level;
            need(is(part(split, "split_type"), "FloatFeature"), "a split that is not read");
            Border *at = borders + number(part(split, "split_index"), 0, border_count);
            need(number(part(split, "float_feature_index"), 0, FEATURES) == at->own && single(part(split, "border")) == at->cut, "a split that says something else than its number");
            nodes[i] = (Node){at->feature, 2 * i + 1, 2 * i + 2, at->lost, at->cut, NULL, 0, NULL, NULL};
        }
        for (int i = 0; i <= inner; i++) {
            nodes[inner + i] = (Node){.left = -1, .adds = leaf(0, 0)};
            for (int k = 0; k < sums; k++) nodes[inner + i].adds[k + 1] = decimal(values->items + i * sums + k);
        }
        model.trees[t] = (Tree){nodes, 2 * inner + 1};
    }
}

static void read_paths(Json *tree) { /* a node sends a row to the right if its sum is at least 0 */
    const char *keys[] = {"gate", "left", "right", "value"};
    Json *its[4];
    for (int k = 0; k < 4; k++) its[k] = list(part(tree, keys[k]));
    int count = its[0]->count;
    for (int k = 1; k < 4; k++) need(its[k]->count == count, "lists of several lengths");
    need(count > 0, "a tree without nodes");
    Path *ways = room(count, sizeof(Path));
    ways[0].plus = room(1, sizeof(int));
    model.paths = room(count, sizeof(Path));
    for (int at = 0; at < count; at++) {
        Path way = ways[at], *found = model.paths + model.path_count;
        need(way.plus != NULL, "a node that nothing leads to");
        if (its[3]->items[at].kind != 'n') {
            Json *value = list(its[3]->items + at);
            need(value->count > 0 && (!model.path_count || value->count == model.asked->classes), "leaves of unlike numbers");
            model.asked->classes = value->count;
            *found = way;
            found->says = room(value->count, sizeof(double));
            for (int k = 0; k < value->count; k++) found->says[k] = real(value->items + k);
            model.path_count++;
            continue;
        }
        int own = (int)number(its[0]->items + at, 0, model.sums - 1) + 1;
        for (int right = 0; right < 2; right++) {
            int child = (int)number(its[1 + right]->items + at, at + 1, count);
            Path *next = ways + child;
            need(next->plus == NULL, "a node that two ways lead to");
            *next = (Path){room(way.steps + 1, sizeof(int)), room(way.steps + 1, sizeof(int)), way.steps + 1, NULL};
            for (int k = 0; k < way.steps; k++) next->plus[k] = way.plus[k], next->less[k] = way.less[k];
            next->plus[way.steps] = right ? own : 0;
            next->less[way.steps] = right ? 0 : own;
        }
    }
}

static void read_layer(Json *told, Layer *layer, int units) {
    Json *leak = list(part(told, "leak")), *base = list(part(told, "base")), *weight = list(part(told, "weight"));
    need(leak->count == units && units > 0, "a layer of other units than sums reach it");
    need(base->count > 0 && weight->count == base->count, "not a weight of each unit for each sum");
    *layer = (Layer){units, base->count, room(units, sizeof(quad)), room(base->count, sizeof(quad)), room(base->count, sizeof(quad *))};
    for (int k = 0; k < units; k++) {
        layer->leak[k] = real(leak->items + k);
        need(layer->leak[k] >= 0 && layer->leak[k] <= 1, "a unit that falls where it rises");
    }
    for (int r = 0; r < base->count; r++) {
        need(list(weight->items + r)->count == units, "not a weight of each unit for each sum");
        layer->base[r] = real(base->items + r);
        layer->weight[r] = room(units, sizeof(quad));
        for (int k = 0; k < units; k++) layer->weight[r][k] = real(weight->items[r].items + k);
    }
    model.units += units;
    if (base->count >= model.widest) model.widest = base->count + 1;
}

static void read_linear(Text data) {
    Json all = parsed(data.text, data.size), *weights = list(part(&all, "weights")), *base = part(&all, "base"), *layers = maybe(&all, "layers");
    Json *digits = maybe(&all, "digits"), *off = maybe(&all, "off");
    need(is(part(&all, "format"), "butfor.linear/1"), "its format is not known");
    int kind = kind_of(part(&all, "sum")), sums = length(base);
    model.step = step_of(digits);
    model.layer_count = layers ? list(layers)->count : 0;
    model.layers = room(model.layer_count, sizeof(Layer));
    model.inputs = model.widest = sums + 1;
    for (int l = 0; l < model.layer_count; l++) read_layer(layers->items + l, model.layers + l, l ? model.layers[l - 1].sums : sums);
    Layer *last = model.layer_count ? model.layers + model.layer_count - 1 : NULL;
    need(!last || kind == LOGISTIC || kind == VALUE || kind == LARGEST || kind == SCORE, "what a network is not read to make");
    begin(kind, last ? last->sums : sums, maybe(&all, "others"));
    need(!last || model.asked_count == 1, "a network beside other models");
    for (int i = 0; i < model.asked_count; i++) need(model.asked[i].kind != SHARES, "its sum is not known");
    model.doubts = room(model.widest, sizeof(quad));
    model.off = room(model.widest, sizeof(quad));
    need(!last || off, "no doubt of what reaches a network");
    need(!off || list(off)->count == sums, "not a doubt for each sum");
    for (int k = 0; off && k < sums; k++) need((model.off[k + 1] = real(off->items + k)) >= 0, "a doubt below 0");
    model.starts = room(model.inputs, sizeof(quad));
    for (int k = 0; k < sums; k++) model.starts[k + 1] = real(item(base, k));
    for (int k = 1; k < model.sums; k++) model.base[k] = last ? last->base[k - 1] : model.starts[k];
    model.weights = room(model.features = weights->count, sizeof(quad *));
    for (int f = 0; f < weights->count; f++) {
        need(length(weights->items + f) == sums, "not a weight for each sum");
        model.weights[f] = room(model.inputs, sizeof(quad));
        for (int k = 0; k < sums; k++) model.weights[f][k + 1] = real(item(weights->items + f, k));
    }
    read_curves(&all);
    read_ballots(&all);
    for (int k = 1; k < model.sums; k++) need(!model.curves[k - 1].bent, "bent shares of weighted sums are not read");
    if (kind == LEAVES) read_paths(part(&all, "tree"));
}

static quad *repeated(const quad *its, int count, int copies) {
    quad *found = room((size_t)count * copies, sizeof(quad));
    for (int k = 0; k < count * copies; k++) found[k] = its[k % count];
    return found;
}

static quad *again(const quad *its, int count, int copies) { /* numbers that come after a first one */
    quad *found = room(1 + (size_t)count * copies, sizeof(quad));
    memcpy(found + 1, repeated(its + 1, count, copies), (size_t)count * copies * sizeof(quad));
    found[0] = its[0];
    return found;
}

static void put_beside(int copies) { /* the network beside itself, so many times */
    int sums = model.inputs - 1, last = model.sums - 1;
    need((quad)model.widest * copies < 10000 && (quad)model.units * copies < 100000, "more units than this checker counts");
    quad **weights = room(model.features, sizeof(quad *));
    for (int f = 0; f < model.features; f++) weights[f] = again(model.weights[f], sums, copies);
    Layer *layers = room(model.layer_count, sizeof(Layer));
    for (int l = 0; l < model.layer_count; l++) {
        Layer *own = model.layers + l, its = {own->units * copies, own->sums * copies, repeated(own->leak, own->units, copies),
                                              repeated(own->base, own->sums, copies), room(own->sums * copies, sizeof(quad *))};
        for (int r = 0; r < its.sums; r++) {
            its.weight[r] = room(its.units, sizeof(quad));
            memcpy(its.weight[r] + r / own->sums * own->units, own->weight[r % own->sums], own->units * sizeof(quad));
        }
        layers[l] = its;
    }
    model.weights = weights, model.layers = layers;
    model.starts = again(model.starts, sums, copies), model.off = again(model.off, sums, copies);
    model.base = again(model.base, last, copies), model.extra = again(model.extra, last, copies);
    model.inputs = 1 + sums * copies, model.sums = 1 + last * copies;
    model.units *= copies, model.widest = 1 + (model.widest - 1) * copies;
    model.doubts = room(model.widest, sizeof(quad));
}

static quad rounded(quad share) { /* by which share of its terms' sizes a sum of n terms may be off, for n u */
    need(share < 1, "a sum of more terms than its digits tell apart");
    return share / (1 - share);
}

/* By how much the last sums may be off, for terms of these sizes that are off by so much themselves. */
static void doubted(const quad *sizes, quad *off) {
    quad fine = ldexp(1, -53), n = (model.features + 4) * fine, spare = 1 + SLACK;
    SPACE(quad, size, model.widest);
    for (int k = 0; k < model.inputs; k++) {
        off[k] = (rounded(n) * (quad_abs(model.starts[k]) + sizes[k]) + (model.layer_count ? 0 : model.extra[k]) + model.off[k] + off[k]) * spare;
        size[k] = (quad_abs(model.starts[k]) + sizes[k] + off[k]) * spare;
        if (model.layer_count) off[k] += size[k] * (model.step - fine) * spare; /* it may be made float32 then */
    }
    for (int l = 0; l < model.layer_count; l++) {
        Layer *layer = model.layers + l;
        SPACE(quad, sums, model.widest);
        SPACE(quad, further, model.widest);
        for (int r = 0; r < layer->sums; r++) {
            quad total = quad_abs(layer->base[r]), passed = 0;
            int terms = 4;
            for (int k = 0; k < layer->units; k++) {
                terms += layer->weight[r][k] != 0;
                total += quad_abs(layer->weight[r][k]) * size[k + 1];
                passed += quad_abs(layer->weight[r][k]) * off[k + 1];
            }
            quad own = terms * (quad)model.step;
            further[r] = (rounded(own) * total + passed) * spare;
            sums[r] = total * spare + further[r];
        }
        for (int r = 0; r < layer->sums; r++) off[r + 1] = further[r] + (l == model.layer_count - 1 ? model.extra[r + 1] : 0), size[r + 1] = sums[r];
    }
}

/* By how much sums of trees, and of so many more terms of these sizes, may be off. */
static void doubted_trees(const quad *sizes, const int *terms, quad *doubts) {
    for (int k = 0; k < model.sums; k++) {
        quad n = (model.terms[k] + terms[k] + 4) * (quad)model.steps[k];
        doubts[k] = (rounded(n) * (quad_abs(model.base[k]) + model.sizes[k] + sizes[k]) + model.extra[k] + model.off[k]) * (1 + (quad)1e-30);
    }
    for (int a = 0; a < model.asked_count; a++)
        for (int k = 1; model.asked[a].alone && k <= model.asked[a].sums; k++) doubts[model.asked[a].at + k] = 0;
}

static int slopes_of(int k) { /* whether numbers add to a sum beside trees */
    for (int f = 0; f < model.slope_count; f++) if (model.slopes[f][k] != 0) return 1;
    return 0;
}

static void read_model(const char *kind, Text data) {
    memset(&model, 0, sizeof model);
    if (!strcmp(kind, "xgboost")) read_xgboost(data);
    else if (!strcmp(kind, "lightgbm")) read_lightgbm(data);
    else if (!strcmp(kind, "catboost")) read_catboost(data);
    else if (!strcmp(kind, "arrays")) read_arrays(data);
    else if (!strcmp(kind, "linear")) read_linear(data);
    else wrong("a model that this checker does not read:", kind);
    need(model.count > 0 || model.features > 0, "the model has no trees and no weights");
    quad *sizes = room(model.sums, sizeof(quad)), *most = room(model.sums, sizeof(quad));
    int *terms = room(model.sums, sizeof(int)), *trees = room(model.asked_count, sizeof(int)); /* that add to a model's sums */
    model.votes = model.kind == SHARES && model.asked_count == 1;
    for (int t = 0; t < model.count; t++) {
        grown(model.trees + t);
        for (int k = 0; k < model.sums; k++) most[k] = 0;
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            if (node->left >= 0) continue;
            quad total = 0;
            for (int k = 0; k < model.sums; k++) {
                quad size = quad_abs(node->adds[k]);
                most[k] = size > most[k] ? size : most[k];
                total += size;
                model.votes &= size == 0 || size == 1;
            }
            model.votes &= total == 1;
        }
        for (int k = 0; k < model.sums; k++) { sizes[k] += most[k]; terms[k] += most[k] != 0; }
        for (int a = 0; a < model.asked_count; a++) {
            int adds = 0;
            for (int k = 1; k <= model.asked[a].sums; k++) adds |= most[model.asked[a].at + k] != 0;
            trees[a] += adds;
        }
    }
    for (int k = 0; k < model.sums; k++) model.votes &= model.base[k] == 0 && model.off[k] == 0 && !slopes_of(k);
    model.sizes = sizes, model.terms = terms;
    for (int a = 0; a < model.asked_count; a++) {
        Asked *its = model.asked + a;
        its->alone = model.plain && trees[a] < 2 && its->over == 1 && (its->kind == SHARES || its->kind == VALUE);
        for (int k = its->at + 1; k <= its->at + its->sums; k++) its->alone &= model.base[k] == 0 && model.off[k] == 0 && !slopes_of(k);
    }
    if (model.count) doubted_trees(room(model.sums, sizeof(quad)), room(model.sums, sizeof(int)), model.doubts);
}

static double as_read(double x) {
    need(!model.single || isfinite((float)x), "a number that float32 does not hold");
    return model.single ? (double)(float)x : x;
}

static int to_left(const Node *node, double x) {
    if (isnan(x)) { need(node->lost >= 0, "the model does not say where a missing value goes"); return node->lost; }
    if (!node->set) return x <= node->cut;
    return x >= 0 && x < node->size && x == floor(x) && node->set[(int)x];
}

/* ---------------------------------------------------------------------------------------------------- questions */

typedef struct { double end, after, cut; int closed, own; } End; /* of a cell; where the next one begins; the cut; whether its end belongs to it */
typedef struct {
    whole *price; int cells, home, stay, levels, first; double *cuts; int cut_count; double **inputs; int *features, feature_count, loses; double lost;
    End *ends; double start, *reach; int known, moved; quad fees[4], *asked, *told, tilt, steep, least, most, far, step, anchor, blur, radius;
    quad *slope, *none, **adds, line[3];
    double *read; int read_count, **place; /* the cuts of its feature; of each copy of the trees, how many cells go to the left at each, if they are moved */
} Column; /* the last cell of one that loses its number is the missing one; far: the largest size of a number */
/* asked: the prices of levels, or the fees of a number (the last one for becoming missing): what was told, and a share of what each reaches */
/* tilt: what a unit of a number costs besides, because of a tangent; steep: the size of its terms */
/* What it adds to each weighted sum, and with its sign turned to each limit: slope and a shift (at 0) a number, none a missing one, adds each level */
typedef struct { quad **adds, most; } Limit; /* what columns add, and what that is at most; of a number one, of levels one each */
typedef struct { int column, lost; unsigned char *inside; double above, most; } Part; /* a column, and which of its cells lie in a set as a whole */
typedef struct { Part *parts; int count; } Rule; /* what never is true at once */
typedef struct { int told, count, *at; double *q, off; quad back; } Form; /* of the changes of some columns; back: what a tangent takes from the bound */
typedef struct { whole *score; int from, to; } Leaf;             /* its entries */
typedef struct { int column, pair, from, to; } Entry;            /* its blocks */
typedef struct { int column, first, last; int *of_cell, *sample; } Pair; /* the blocks of a column in a tree, that of each cell or -1, and a cell of each */
typedef struct { int leaf, leaf_end, pair, pair_end; } Grown; /* the leaves and the pairs of a tree */

typedef struct { int plus, less, sure, strict; whole goal; quad least; } Goal; /* what is added to one sum, less what is added to another, is at least so much, or more */

static struct {
    Column *columns; int column_count, cells, counted, none;
    whole limit, bound; quad below, unit, claim; int largest, done; /* the dearest change counts, not the sum; infinite if there is no claim; done: nothing is left of it */
    char norm; quad *begun; Json *radius, *replies; int copies, shifts, tree_count; /* of a ball: a, 1 or 2; trees count once more for each reply, networks for each shift */
    quad *doubts; int *steps; /* of the sums; of each way, how many goals it has */
    int steps_end; /* so many goals come before those of lines inside of curves, and of the mean */
    Goal *goals; int ways, width; /* in each way, so many goals are to be reached */
    int way; /* whether sums reach goals perhaps, or surely (-1) */
    int odds; /* whether a probability of several classes is wanted, by the odds of its rivals */
    quad mean, grain; /* what the curves of sums must add up to. It is the last goal, before it come lines inside of curves */
    Curve *curves; /* the first goals are where sums are 0 */
    unsigned char *home, *alive; whole *price;
    Limit *limits; int limit_count;
    Rule *rules; int rule_count;
    Form form; int reaching; /* what is added to the prices of all columns, if any reaches something */
    Grown *trees; Leaf *leaves; Entry *entries; Pair *pairs; int *members;
    int leaf_count, entry_count, pair_count, block_count, member_count, leaf_space, entry_space, pair_space, member_space;
} q;

static int curved(void) { return of_curves() || q.odds; } /* what is wanted is about curves of sums */
static int curve_count(void) { return q.odds ? model.asked->classes - 1 : model.sums - 1; }

static quad power_below(quad x) { /* the largest power of two that is not above x */
    quad power = 1;
    while (power > x) power /= 2;
    while (power * 2 <= x) power *= 2;
    return power;
}
static whole floor_of(quad x) { need(quad_abs(x) < FAR, "a number that is too large"); whole k = (whole)x; return k - ((quad)k > x); }
static whole ceil_of(quad x) { return -floor_of(-x); }
static quad up(quad x, quad size) { /* the whole number at or above it, for terms of this size */
    x += size * SLACK;
    need(quad_abs(x) < (quad)1e33, "larger numbers than this checker counts");
    wide k = (wide)x;
    return (quad)k + ((quad)k < x);
}
static int by_size(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }

static int by_end(const void *a, const void *b) {
    const End *x = a, *y = b;
    return x->end != y->end ? (x->end > y->end) - (x->end < y->end) : (x->cut > y->cut) - (x->cut < y->cut);
}

static quad fraction(char *text, int *dyadic) {
    char *slash = strchr(text, '/');
    char whole_part[30], below_part[30] = "1";
    size_t size = slash ? (size_t)(slash - text) : strlen(text);
    need(size < 19 && (!slash || strlen(slash + 1) < 19), "a grid of larger fractions than this checker counts");
    const char *digits = "0123456789";
    size_t sign = *text == '-', first = sign + strspn(text + sign, digits), second = slash ? strspn(slash + 1, digits) : 1;
    need(first > sign && first == size && second && (!slash || !slash[1 + second]), "no fraction");
    memcpy(whole_part, text, size);
    whole_part[size] = 0;
    if (slash) strcpy(below_part, slash + 1);
    whole a = strtoll(whole_part, NULL, 10), b = strtoll(below_part, NULL, 10), g = llabs(a), h = b;
    need(b > 0, "no fraction");
    while (g) { whole r = h % g; h = g; g = r; }
    b /= h;
    *dyadic &= (b & (b - 1)) == 0;
    return (quad)(a / h) / b;
}

static whole in_units(quad price, int exact) { /* rounded down */
    if (q.none) return 0;
    quad found = price / q.unit;
    if (!exact) found *= 1 - (quad)1e-31;
    return found >= q.bound ? q.bound : floor_of(found);
}

static whole paid(quad price) { return q.largest && price >= q.claim ? FAR : in_units(price, 1); } /* the dearest change costs less than the claim */

/* The least of price + slope x over a change to a number of a range, or less; size is that of the terms of the slope. */
static quad change_in(const Column *c, quad low, quad high, quad slope, quad size, int none) {
    quad fee = none ? 0 : c->fees[0], rate = none ? 0 : c->fees[1], square = none ? 0 : c->fees[2], least = INFINITY;
    quad near[5] = {c->start, low, high}, far = quad_abs(low) > quad_abs(high) ? quad_abs(low) : quad_abs(high);
    quad blur = 2 * c->blur * (quad_abs(c->anchor) + far);
    int count = slope == 0 ? 1 : 3;
    if (low > high) return least;
    for (int way = -1; way < 2 && slope != 0 && square != 0; way += 2) near[count++] = c->start + (way * rate - slope) / (2 * square);
    whole first = 0, last = 0;
    if (c->step != 0) {
        first = ceil_of((low - blur - c->anchor) / c->step);
        last = floor_of((high + blur - c->anchor) / c->step);
        if (first > last) return least;
    }
    for (int i = 0; i < 2 * count; i++) { /* of a grid, the points on both sides */
        quad x = near[i / 2] < low ? low : near[i / 2] > high ? high : near[i / 2];
        if (c->step != 0) {
            quad at = (x - c->anchor) / c->step;
            whole k = i % 2 ? ceil_of(at) : floor_of(at);
            x = c->anchor + (k < first ? first : k > last ? last : k) * c->step;
        }
        quad by = x - c->start, side = by < 0 ? -1 : 1, move = side * by, price = fee + rate * move + square * move * move;
        quad slack = blur * (rate + 2 * square * (move + blur) + quad_abs(slope));
        int raised = side * (x - by - c->start) < 0 || side * (x - (c->start + by)) < 0; /* the move, where it was rounded */
        int exact = size == 0 && blur == 0 && fee == 0 && square == 0 && (quad)(double)rate == rate && (quad)(double)move == move && !raised;
        quad found = price + slope * x - slack - (exact ? 0 : (price + slack + size * quad_abs(x)) * SLACK);
        if (found < least) least = found;
    }
    return least;
}

static quad least_in(const Column *c, int cell, quad slope, quad size, int none) { /* the same over all that is admissible in a cell */
    quad low = cell && c->ends[cell - 1].after > c->least ? c->ends[cell - 1].after : c->least;
    quad high = cell < c->cut_count && c->ends[cell].end < c->most ? c->ends[cell].end : c->most;
    if (c->step != 0 && c->blur == 0 && cell && c->ends[cell - 1].closed && low == c->ends[cell - 1].after) {
        quad at = (low - c->anchor) / c->step;
        if (quad_abs(at) < FAR && at == floor_of(at)) low += c->step; /* the end itself lies in the cell before */
    }
    quad least = change_in(c, low, high, slope, size, none);
    int own = c->stay && (cell == c->home || (c->known && low <= c->start && c->start <= high));
    quad stays = slope * c->start - size * quad_abs((quad)c->start) * (quad)1e-31;
    return own && stays < least ? stays : least;
}

static double input(Json *of) { return of->kind == 'n' ? NAN : as_read(real(of)); } /* null is a missing value */

static void read_ball(Json *told, Json *replies, int columns) { /* how far each number is shifted, and where replies move cuts */
    q.copies = 1 + (replies ? list(replies)->count : 0);
    if (told && told->kind != 'n') {
        Json *norm = part(told, "norm");
        q.radius = list(part(told, "radius"));
        q.norm = is(norm, "linf") ? 'a' : is(norm, "l2") ? '2' : is(norm, "l1") ? '1' : 0;
        need(q.norm && q.radius->count == columns, "a ball that is not known");
        int alike = !of_curves() && model.kind != LEAVES && model.kind != VOTES; /* near a row, other voters may win */
        need(alike, "a ball of what is no sum");
        for (int j = 0; j < columns; j++) need(q.radius->items[j].kind == 'n' || real(q.radius->items + j) > 0, "a radius that is not above 0");
    }
    need(q.copies == 1 || (q.norm == 'a' && !model.features) || (q.norm && model.layer_count), "replies without a ball, or a box of trees");
    need(q.copies < 1000, "more replies than this checker counts");
    q.replies = replies;
    for (int r = 1; r < q.copies; r++)
        for (int i = 0; i < list(replies->items + r - 1)->count; i++) {
            Json *its = replies->items[r - 1].items;
            need(list(its + i)->count == 2, "a reply of other things");
            for (int k = 0; k < i; k++)
                need(number(its[i].items, 0, columns) != number(its[k].items, 0, columns), "a column that is there twice");
        }
    if (model.layer_count) q.shifts = q.copies - 1, q.copies = 1;
}

static Json *reply(int r, int j) { /* where it moves the ends of the cuts of a column; NULL if they stay */
    Json *told = q.replies->items + r - 1;
    for (int i = 0; i < told->count; i++)
        if (number(told->items[i].items, 0, FEATURES) == j && told->items[i].items[1].kind != 'n' && list(told->items[i].items + 1)->count) return told->items[i].items + 1;
    return NULL;
}

/* The ends of a reply are away from the cuts by at most the radius, rise with them, and are points of the grid, if there is one. */
static void moved_ends(const Column *c, Json *told, const quad *turns) {
    need(c->radius != 0 && told->count == c->read_count, "not an end for each cut");
    for (int i = 0; i < c->read_count; i++) {
        quad x = real(told->items + i), end = turns[i], before = i ? turns[i - 1] : 0;
        if (c->step != 0) {
            quad steps = (x - c->anchor) / c->step, near = c->anchor + floor_of((end - c->anchor) / c->step) * c->step;
            need(near != end || c->ends[i].closed, "a cut that two points of a grid share");
            need(quad_abs(steps) < FAR && steps == floor_of(steps), "an end that is no point of its grid");
            before = c->anchor + floor_of((before - c->anchor) / c->step) * c->step;
            need(!i || before != near || x == real(told->items + i - 1), "cuts between two points of a grid that are parted");
            end = near;
        }
        need(quad_abs(x - end) <= c->radius && (!i || real(told->items + i - 1) <= x), "ends that are moved too far");
    }
}

/* Cells end at a number, too, and go the same way as what is up to the next cut; both: it belongs to both cells. */
static int end_at(Column *c, int count, int cuts, double x, int both, int single_column) {
    double cut = INFINITY;
    int known = 0;
    for (int k = 0; k < count; k++) {
        if (c->ends[k].end != x) continue;
        known = 1;
        if (both) c->ends[k].after = x, c->ends[k].closed = 0;
    }
    if (known) return count;
    for (int k = cuts - 1; k >= 0; k--) if (c->ends[k].end > x) cut = c->ends[k].cut;
    c->ends[count] = (End){x, single_column && !both ? nextafterf((float)x, INFINITY) : x, cut, !both, 0};
    return count + 1;
}

static void read_number(Column *c, int j, Json *about, Json *own) {
    Json *now_is = part(own, "now"), *lost = maybe(about, "missing"), *lose = maybe(own, "missing");
    int known = now_is->kind != 'n';
    double low = real(part(own, "least")), high = real(part(own, "most")), fees[3];
    Json *price = list(part(own, "price")), *grid = part(about, "grid"), *edges = part(about, "edges");
    need(price->count == 3, "no three prices");
    for (int i = 0; i < 3; i++) { fees[i] = real(price->items + i); need(fees[i] >= 0, "a negative price"); }
    double now = known ? real(now_is) : low;
    need(known || (fees[1] == 0 && fees[2] == 0), "a price of a distance from nowhere");
    c->loses = lost && lost->kind != 'n';
    need(c->loses || (known && (!lose || lose->kind == 'n')), "a column that is never missing");
    need(!lose || lose->kind == 'n' || known, "a price of what it is");
    if (c->loses) need(list(lost)->count == c->feature_count, "a missing value that does not set its feature");
    if (c->loses && c->feature_count) c->lost = input(lost->items);
    int single_column = truth(part(about, "single")), dyadic = 1;
    need(!single_column || !known || (double)(float)now == now, "a number that is told to be float32, and is not");
    c->stay = truth(part(own, "stay"));
    quad step = 0, anchor = 0, blur = 0;
    if (grid->kind != 'n') {
        need(list(grid)->count == 2, "no grid");
        step = fraction(text_of(grid->items), &dyadic);
        anchor = fraction(text_of(grid->items + 1), &dyadic);
        need(step > 0, "a step that is not above 0");
        blur = dyadic ? 0 : single_column ? ldexp(1, -22) : ldexp(1, -49);
    }
    Json *others = maybe(own, "ends");
    int given = others ? list(others)->count : 0, count = 0, cuts = c->cut_count;
    c->step = step, c->anchor = anchor, c->blur = blur;
    if (q.radius && q.radius->items[j].kind != 'n') {
        c->radius = real(q.radius->items + j);
        quad steps = step != 0 ? c->radius / step : 0;
        need(step == 0 || (blur == 0 && q.norm == 'a' && quad_abs(steps) < FAR && steps == floor_of(steps)), "a ball of numbers on a grid");
    }
    c->ends = room((size_t)cuts * q.copies + given, sizeof(End));
    quad *turns = room(cuts, sizeof(quad));
    if (edges->kind != 'n') need(list(edges)->count == cuts, "not an edge for each cut");
    for (int i = 0; i < cuts; i++) {
        double cut = c->cuts[i], end = edges->kind != 'n' ? real(edges->items + i) : cut, turn = end;
        need(!i || edges->kind == 'n' || real(edges->items + i - 1) <= end, "edges that fall");
        if (edges->kind == 'n' && model.single) turn = (cut + nextafterf((float)cut, INFINITY)) / 2;
        End *it = c->ends + count++;
        *it = (End){turn, turn, cut, turn == end, 1};
        turns[i] = turn;
        if (single_column) { /* the largest float32 up to it, and the next one */
            it->end = single_below(end);
            it->after = nextafterf((float)it->end, INFINITY);
            it->closed = 0;
        }
    }
    c->read = c->cuts;
    c->read_count = cuts;
    for (int r = 1; r < q.copies; r++) {
        if (!reply(r, j)) continue;
        quad own = step != 0 && known && c->stay ? (now - anchor) / step : 0;
        need(own == floor_of(own), "a number beside its grid that may stay, and cuts that are moved");
        moved_ends(c, reply(r, j), turns);
    }
    free(turns);
    for (int both = 0; both < 2; both++) { /* an end of a reply that belongs to both cells says so of the same end elsewhere */
        for (int i = 0; i < given && !both; i++) count = end_at(c, count, cuts, real(others->items + i), 0, 0);
        for (int r = 1; r < q.copies; r++)
            for (int i = 0; i < cuts && reply(r, j); i++) {
                double x = real(reply(r, j)->items + i), place = single_column ? single_below(x) : x;
                int shared = model.single && edges->kind == 'n' && step == 0;
                count = both ? shared && place == x ? end_at(c, count, cuts, x, 1, single_column) : count : end_at(c, count, cuts, place, 0, single_column);
            }
    }
    qsort(c->ends, count, sizeof(End), by_end);
    c->cut_count = count;
    c->cuts = room(count, sizeof(double));
    for (int i = 0; i < count; i++) c->cuts[i] = c->ends[i].cut;
    c->place = room(q.copies, sizeof(int *));
    for (int r = 1; r < q.copies; r++) {
        Json *told = reply(r, j);
        if (told) c->place[r] = room(cuts, sizeof(int));
        for (int i = 0; told && i < cuts; i++)
            while (c->place[r][i] < count && c->ends[c->place[r][i]].end <= real(told->items + i)) c->place[r][i]++;
    }
    c->cells = count + 1 + c->loses;
    c->home = known ? 0 : count + 1;
    for (int i = 0; known && i < count; i++)
        c->home += edges->kind != 'n' || !c->ends[i].own ? c->ends[i].end < now : c->ends[i].cut < as_read(now);
    Json *line = maybe(about, "line");
    int bent = line && line->kind != 'n' && list(line)->count;
    need(!bent || line->count == 3, "a line of other numbers");
    for (int i = 0; i < 3; i++) c->line[i] = bent ? real(line->items + i) : i == 0;
    c->far = known ? quad_abs(now) : 0;
    if (low <= high) c->far = quad_abs(low) > c->far ? quad_abs(low) : c->far, c->far = quad_abs(high) > c->far ? quad_abs(high) : c->far;
    c->far += c->radius;
    c->least = low, c->most = high, c->start = now, c->known = known, c->moved = edges->kind != 'n';
    for (int i = 0; i < 3; i++) c->fees[i] = fees[i];
    c->asked = c->fees;
    c->price = room(c->cells, sizeof(whole));
    for (int cell = 0; cell <= count; cell++) {
        quad found = least_in(c, cell, 0, 0, 0);
        c->price[cell] = found == (quad)INFINITY ? FAR : cell == c->home && c->stay ? 0 : paid(found > 0 ? found : 0);
    }
    if (q.largest && q.claim < INFINITY) { /* no change may cost as much as the claim */
        need(fees[2] == 0, "a rate per squared unit, where the dearest change counts");
        quad far = fees[1] > 0 ? (q.claim - fees[0]) / fees[1] * (1 + (quad)1e-31) : INFINITY;
        if (now - far > c->least) c->least = now - far;
        if (now + far < c->most) c->most = now + far;
        if (fees[0] >= q.claim) c->least = 1, c->most = 0;
    }
    if (!c->loses) return;
    double fee = lose && lose->kind != 'n' ? real(lose) : 0;
    need(fee >= 0, "a negative price");
    c->fees[3] = fee;
    c->price[c->cells - 1] = lose && lose->kind != 'n' ? paid(fee) : !known && c->stay ? 0 : FAR;
}

static void read_levels(Column *c, Json *about, Json *own) {
    Json *levels = list(part(about, "levels")), *prices = list(part(own, "prices"));
    c->levels = 1;
    c->cells = levels->count;
    need(prices->count == c->cells, "not every level has a price");
    c->home = (int)number(part(own, "now"), 0, c->cells);
    c->price = room(c->cells, sizeof(whole));
    c->inputs = room(c->cells, sizeof(double *));
    c->asked = room(c->cells, sizeof(quad));
    for (int k = 0; k < c->cells; k++) {
        Json *level = list(levels->items + k), *price = prices->items + k;
        need(level->count == c->feature_count + 1, "a level lacks a feature");
        c->inputs[k] = room(c->feature_count, sizeof(double));
        for (int f = 0; f < c->feature_count; f++) c->inputs[k][f] = input(level->items + f + 1);
        double p = price->kind == 'n' ? 0 : real(price);
        need(p >= 0, "a negative price");
        c->asked[k] = p;
        c->price[k] = price->kind == 'n' ? FAR : paid(p);
    }
    c->stay = c->price[c->home] != FAR;
}

static int prices_of(const Column *c) { return c->levels ? c->cells : 4; }

static void read_reach(Column *c, Json *told) { /* of each price, how far what is paid for reaches. What stays reaches nothing */
    int count = c->levels ? c->cells : 3;
    need(!told || list(told)->count == count, "not a reach for each change");
    c->told = room(prices_of(c), sizeof(quad));
    c->reach = room(prices_of(c), sizeof(double));
    memcpy(c->told, c->asked, prices_of(c) * sizeof(quad));
    for (int k = 0; told && k < count; k++) {
        double reach = real(told->items + k);
        need(reach >= 0, "a reach below 0");
        c->reach[!c->levels && k == 2 ? 3 : k] = reach;
    }
    if (c->levels) c->reach[c->home] = 0;
    else if (!c->known) c->reach[3] = 0;
    need(c->levels || c->known || c->reach[1] == 0, "a reach of a distance from nowhere");
    q.reaching |= told != NULL;
}

static int column_of[FEATURES];

static int reads_nothing(const Column *c, int feature) { /* whether the model may get it as a missing value */
    for (int i = 0; i < c->feature_count; i++)
        for (int cell = 0; c->features[i] == feature && cell < c->cells; cell++)
            if (isnan(c->levels ? c->inputs[cell][i] : c->lost)) return 1;
    return 0;
}

static void read_columns(Json *shared, Json *own) {
    Json *abouts = list(part(shared, "columns")), *owns = list(part(own, "columns"));
    need(abouts->count == owns->count, "not every column has a line of its own");
    q.columns = room(q.column_count = abouts->count, sizeof(Column));
    for (int f = 0; f < FEATURES; f++) column_of[f] = -1;
    for (int j = 0; j < q.column_count; j++) {
        Json *about = abouts->items + j, *features = list(part(about, "features"));
        Column *c = q.columns + j;
        c->features = room(c->feature_count = features->count, sizeof(int));
        for (int i = 0; i < features->count; i++) {
            int f = c->features[i] = (int)number(features->items + i, 0, FEATURES);
            need(column_of[f] < 0, "two columns set one feature");
            column_of[f] = j;
        }
        if (maybe(about, "levels")) {
            read_levels(c, about, owns->items + j);
            need(!q.radius || q.radius->items[j].kind == 'n', "levels that are shifted");
            for (int r = 1; r < q.copies; r++) need(!reply(r, j), "levels that are shifted");
            read_reach(c, maybe(owns->items + j, "reach"));
            continue;
        }
        need(c->feature_count < 2, "a number that sets several features");
        int space = 0;
        for (int t = 0; t < model.count; t++)
            for (int i = 0; i < model.trees[t].count; i++) {
                Node *node = model.trees[t].nodes + i;
                if (node->left < 0 || !c->feature_count || node->feature != c->features[0] || isinf(node->cut)) continue;
                need(!node->set, "a number that the model takes for a category");
                more(c->cuts, c->cut_count, space);
                c->cuts[c->cut_count++] = node->cut;
            }
        if (c->cut_count) qsort(c->cuts, c->cut_count, sizeof(double), by_size);
        int kept = 0;
        for (int i = 0; i < c->cut_count; i++) if (!kept || c->cuts[kept - 1] != c->cuts[i]) c->cuts[kept++] = c->cuts[i];
        c->cut_count = kept;
        read_number(c, j, about, owns->items + j);
        read_reach(c, maybe(owns->items + j, "reach"));
    }
    for (int t = 0; t < model.count; t++)
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            int j = node->left < 0 || node->feature >= FEATURES ? -1 : column_of[node->feature];
            need(j < 0 || node->lost >= 0 || !reads_nothing(q.columns + j, node->feature), "the model does not say where a missing value goes");
        }
}

static void read_relations(Json *told) { /* each has a limit for each of its ends */
    int dyadic = 0;
    q.limits = room(told ? 2 * list(told)->count : 0, sizeof(Limit));
    for (int r = 0; told && r < told->count; r++) {
        Json *its = told->items + r, *adds = list(part(its, "adds")), *most = part(its, "most"), *least = part(its, "least");
        double off = real(part(its, "off"));
        need(off >= 0 && (most->kind != 'n' || least->kind != 'n'), "a relation without an end, or a negative doubt");
        for (int way = 1; way > -2; way -= 2) {
            Json *end = way > 0 ? most : least;
            if (end->kind == 'n') continue;
            Limit *limit = q.limits + q.limit_count++;
            quad at = fraction(text_of(end), &dyadic);
            limit->most = way * at + off + (quad_abs(at) + off) * (quad)1e-31;
            limit->adds = room(q.column_count, sizeof(quad *));
            for (int i = 0; i < adds->count; i++) {
                need(list(adds->items + i)->count == 2, "a column that adds nothing");
                int j = (int)number(adds->items[i].items, 0, q.column_count);
                Json *value = adds->items[i].items + 1;
                Column *c = q.columns + j;
                need(!limit->adds[j], "a column that is twice in a relation");
                need(c->levels || !c->loses || c->price[c->cells - 1] == FAR, "a column of a relation that may be missing");
                need(!c->levels || list(value)->count == c->cells, "not a number for each level");
                limit->adds[j] = room(c->cells, sizeof(quad));
                for (int k = 0; k < (c->levels ? c->cells : 1); k++)
                    limit->adds[j][k] = way * fraction(text_of(c->levels ? value->items + k : value), &dyadic);
            }
        }
    }
}

static Part rule_part(Json *told) {
    Part part = {(int)number(list(told)->items, 0, q.column_count), 0, NULL, -INFINITY, INFINITY};
    Column *c = q.columns + part.column;
    part.inside = room(c->cells, 1);
    if (c->levels) {
        need(told->count == 2, "no levels of a rule");
        for (int i = 0; i < list(told->items + 1)->count; i++) part.inside[number(told->items[1].items + i, 0, c->cells)] = 1;
        return part;
    }
    need(told->count == 4, "no numbers of a rule");
    double above = part.above = told->items[1].kind == 'n' ? -INFINITY : real(told->items + 1);
    double most = part.most = told->items[2].kind == 'n' ? INFINITY : real(told->items + 2);
    int lost = part.lost = truth(told->items + 3);
    need(!lost || c->loses, "a column that is never missing, in a rule");
    for (int k = 0; k <= c->cut_count; k++) {
        double begins = k ? c->ends[k - 1].after : -INFINITY, ends = k < c->cut_count ? c->ends[k].end : INFINITY;
        part.inside[k] = ends <= most && (begins > above || (begins == above && (!k || c->ends[k - 1].closed)));
    }
    if (lost) part.inside[c->cells - 1] = 1;
    return part;
}

static void read_rules(Json *told) {
    q.rules = room(told ? list(told)->count : 0, sizeof(Rule));
    for (int r = 0; told && r < told->count; r++) {
        Rule *rule = q.rules + q.rule_count++;
        rule->count = list(told->items + r)->count;
        need(rule->count > 0, "a rule about nothing");
        rule->parts = room(rule->count, sizeof(Part));
        for (int i = 0; i < rule->count; i++) rule->parts[i] = rule_part(told->items[r].items + i);
    }
}

/* A form, with its doubt, is positive semidefinite if each row that is eliminated begins above 0.
   What is found is L D L', which is semidefinite. At row i of n and column k it is off from where it began by at most (n + 2) u sqrt(a_i a_k),
   with u = 2^-113 and the diagonal a (Higham, Accuracy and Stability, section 10.1). As forms go, that is at most n (n + 2) u times the diagonal.
   For 200 rows this is less than SLACK, which is taken from the diagonal first. What underflows is far less than SLACK of any number in a file. */
static void need_positive(const Form *form) {
    int n = form->count;
    quad *a = room(n * n, sizeof(quad));
    for (int i = 0; i < n * n; i++) a[i] = i % (n + 1) ? (quad)form->q[i] : ((quad)form->q[i] + form->off) * (1 - SLACK);
    for (int k = 0; k < n; k++) {
        quad *first = a + k * n, pivot = first[k];
        need(pivot > 0, "a form that may be negative");
        for (int i = k + 1; i < n; i++)
            for (int j = i; j < n && first[i] != 0; j++) a[i * n + j] -= first[i] / pivot * first[j];
    }
    free(a);
}

static void at_tangent(const quad *y) { /* a form lies above its tangent at some changes, less its doubt of how far changes are from these */
    Form *form = &q.form;
    quad size = 0, back = 0;
    for (int i = 0; i < form->count; i++) {
        Column *c = q.columns + form->at[i];
        quad left = quad_abs(c->start - c->least), right = quad_abs(c->most - c->start), far = c->least > c->most ? 0 : left > right ? left : right;
        quad off = form->off * (far + quad_abs(y[i])) * (far + quad_abs(y[i]));
        c->tilt = c->steep = 0;
        for (int k = 0; k < form->count; k++) {
            quad term = 2 * y[k] * form->q[i * form->count + k];
            c->tilt += term;
            c->steep += quad_abs(term);
        }
        back += c->tilt * (c->start + y[i] / 2) + off;
        size += c->steep * (fabs(c->start) + quad_abs(y[i])) + off;
    }
    form->back = back + size * SLACK;
}

static void read_form(Json *told) { /* a quadratic form of the changes of numbers. In the beginning the tangent is that at 0 */
    Form *form = &q.form;
    Json *at = list(part(told, "columns")), *rows = list(part(told, "q"));
    int n = at->count;
    need(n <= 200 && rows->count == n, "a form of other rows, or of too many columns");
    *form = (Form){1, n, room(n, sizeof(int)), room(n * n, sizeof(double)), real(part(told, "off")), 0};
    need(form->off >= 0, "a negative doubt");
    need(form->off == 0 || model.features, "a form that may be below 0, of trees, which this checker does not count"); /* they are narrowed by prices alone */
    for (int i = 0; i < n; i++) {
        int j = form->at[i] = (int)number(at->items + i, 0, q.column_count);
        Column *c = q.columns + j;
        need(!c->levels && c->known && (!c->loses || c->price[c->cells - 1] == FAR), "a form of what is no number that stays known");
        need(list(rows->items + i)->count == n, "no symmetric form");
        for (int k = 0; k < n; k++) form->q[i * n + k] = real(rows->items[i].items + k);
        for (int k = 0; k < i; k++) need(form->at[k] != j && form->q[i * n + k] == form->q[k * n + i], "no symmetric form, or a column that is there twice");
    }
    need_positive(form);
    if (!q.none) at_tangent(room(n, sizeof(quad)));
}

static void read_terms(void) { /* what columns add to weighted sums, and by how much these may be off */
    int sums = model.inputs + q.limit_count;
    need(q.column_count < 10000 && sums < 10000 && model.widest < 10000 && model.features < 50000, "more terms than this checker counts");
    quad *sizes = room(sums, sizeof(quad));
    q.doubts = room(model.widest, sizeof(quad));
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        int cells = c->levels ? c->cells : 1, related = 0;
        for (int e = 0; e < q.limit_count; e++) related |= q.limits[e].adds[j] != NULL;
        c->adds = room(cells, sizeof(quad *));
        for (int k = 0; k < cells; k++) c->adds[k] = room(sums, sizeof(quad));
        c->slope = room(sums, sizeof(quad));
        c->none = room(sums, sizeof(quad));
        for (int i = 0; i < c->feature_count; i++) {
            quad *weight = c->features[i] < model.features ? model.weights[c->features[i]] : NULL;
            double largest = 0;
            for (int k = 0; c->levels && k < cells; k++) {
                need(!isnan(c->inputs[k][i]), "a missing value before weights");
                largest = fabs(c->inputs[k][i]) > largest ? fabs(c->inputs[k][i]) : largest;
            }
            need(c->levels || !c->loses || !isnan(c->lost), "a missing value before weights");
            for (int s = 0; weight && s < model.inputs; s++) {
                for (int k = 0; c->levels && k < cells; k++) c->adds[k][s] += weight[s] * c->inputs[k][i];
                if (c->levels) { sizes[s] += quad_abs(weight[s]) * largest; continue; }
                quad off = quad_abs(weight[s] * c->line[2]);
                c->slope[s] = weight[s] * c->line[0];
                c->adds[0][s] = weight[s] * c->line[1];
                c->none[s] = c->loses ? weight[s] * c->lost : 0;
                sizes[s] += quad_abs(c->slope[s]) * c->far + quad_abs(c->adds[0][s]) + off + quad_abs(c->none[s]);
                q.doubts[s] += off;
            }
        }
        for (int e = 0; related && e < q.limit_count; e++)
            for (int k = 0; q.limits[e].adds[j] && k < cells; k++) *(c->levels ? c->adds[k] + model.inputs + e : c->slope + model.inputs + e) = -q.limits[e].adds[j][k];
        if (c->levels) continue;
        need(!c->known || !c->loses || c->price[c->cells - 1] == FAR, "a number that may become missing, before weights");
        need(c->radius == 0 || !c->loses, "a number that may be missing, and is shifted, before weights");
        need(c->known || !c->stay || !related, "a number that may stay missing, in a relation before weights");
    }
    for (int f = 0; f < model.features; f++) {
        int used = 0;
        for (int s = 0; s < model.inputs; s++) used |= model.weights[f][s] != 0;
        need(!used || (f < FEATURES && column_of[f] >= 0), "no column sets a feature");
    }
    doubted(sizes, q.doubts);
}

static void read_slopes_of_columns(void) { /* by how much sums may be off of trees and of numbers that are weighed beside them */
    quad *sizes = room(model.sums, sizeof(quad));
    int *terms = room(model.sums, sizeof(int));
    need(!q.norm, "a ball of trees beside weights");
    q.doubts = room(model.sums, sizeof(quad));
    for (int f = 0; f < model.slope_count; f++) {
        int used = 0;
        for (int k = 0; k < model.sums; k++) used |= model.slopes[f][k] != 0;
        if (!used) continue;
        need(f < FEATURES && column_of[f] >= 0, "no column sets a feature");
        Column *c = q.columns + column_of[f];
        need(!c->levels && !c->moved && c->line[0] == 1 && c->line[1] == 0 && c->line[2] == 0, "what is weighed beside trees is no number, or is changed");
        for (int k = 0; k < model.sums; k++) {
            quad size = quad_abs(model.slopes[f][k]) * c->far;
            sizes[k] += size;
            terms[k] += size != 0;
        }
    }
    doubted_trees(sizes, terms, q.doubts);
}

static quad slope_of(const Column *c, const Goal *goal) { /* what a unit of a number adds towards a goal beside trees */
    if (c->levels || !c->feature_count || c->features[0] >= model.slope_count) return 0;
    return model.slopes[c->features[0]][goal->plus] - model.slopes[c->features[0]][goal->less];
}

static quad counts(const Node *leaf, const Goal *goal) { return leaf->adds[goal->plus] - leaf->adds[goal->less]; }

static int first_largest(const Path *leaf) {
    int best = 0;
    for (int k = 1; k < model.asked->classes; k++) if (leaf->says[k] > leaf->says[best]) best = k;
    return best;
}

static void read_ways(Json *which, int class, int one, int sign, double at) { /* the leaves of an oblique tree that say what is wanted */
    q.width = 1;
    q.steps = room(model.path_count, sizeof(int));
    Path **said = room(model.path_count, sizeof(Path *));
    for (int p = 0; p < model.path_count; p++) {
        Path *leaf = model.paths + p;
        int wanted = !class && sign * leaf->says[one] >= sign * at;
        for (int k = 0; class && k < length(which); k++) wanted |= number(item(which, k), 0, model.asked->classes) == first_largest(leaf);
        if (!wanted) continue;
        said[q.ways] = leaf;
        q.steps[q.ways++] = leaf->steps;
        if (leaf->steps > q.width) q.width = leaf->steps;
    }
    q.goals = room((q.ways + 1) * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++)
        for (int k = 0; k < q.steps[w]; k++) q.goals[w * q.width + k] = (Goal){.plus = said[w]->plus[k], .less = said[w]->less[k]};
    if (!q.ways) q.steps[q.ways++] = 1; /* no leaf says it: 0 would have to be 1 */
}

static void read_votes(int class) { /* the smallest sets of voters who decide for a class, however the others vote */
    int n = model.sums - 1, all = 1 << n, exact = 1, *found = room(all, sizeof(int)); /* as bits, the first voter's is the highest */
    quad total = 0;
    for (int k = 0; k < n; k++) total += model.ballots[k];
    quad unit = power_below(total) / ((quad)((whole)1 << 52));
    for (int k = 0; k < n; k++) exact &= (quad)(whole)(model.ballots[k] / unit) == model.ballots[k] / unit;
    for (int size = 0; size <= n; size++)
        for (int set = all - 1; set >= 0; set--) {
            if (__builtin_popcount(set) != size) continue;
            quad lead = -total;
            for (int k = 0; k < n; k++) if (set >> (n - 1 - k) & 1) lead += 2 * model.ballots[k];
            need(exact || quad_abs(lead) * ((whole)1 << 40) > total * (1 + SLACK), "votes that are equal within their rounding");
            int wins = lead > 0 || (lead == 0 && !class);
            for (int w = 0; w < q.ways; w++) wins &= (found[w] & set) != found[w];
            if (!wins) continue;
            found[q.ways++] = set;
            q.width = size;
        }
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++)
        for (int k = 0, g = w * q.width; k < n; k++)
            if (found[w] >> (n - 1 - k) & 1) q.goals[g++] = class ? (Goal){.plus = k + 1} : (Goal){.less = k + 1};
}

static void read_pairs(const Asked *its, Json *which, int by_difference, int one, int sign) { /* which sums are to exceed which, in each way */
    if (of_curves()) {
        q.ways = 1;
        q.width = model.sums;
        q.curves = room(model.sums, sizeof(Curve));
        q.goals = room(2 * model.sums, sizeof(Goal));
        for (int k = 0; k < model.sums - 1; k++) {
            Curve *c = q.curves + k;
            *c = model.curves[k];
            q.width += c->bent;
            c->turned = sign * c->weight < 0;
            c->weight = quad_abs(c->weight);
            if (c->turned) c->shift = -c->slope - c->shift;
            if (c->turned && c->knots) turn_knots(c);
            if (c->turned) q.mean += c->weight;
            q.goals[k] = c->turned ? (Goal){.less = k + 1} : (Goal){.plus = k + 1};
        }
        return;
    }
    if (!by_difference) {
        q.ways = q.width = 1;
        q.goals = room(1, sizeof(Goal));
        q.goals[0] = sign > 0 ? (Goal){.plus = one} : (Goal){.less = one};
        return;
    }
    unsigned char named[100] = {0};
    q.ways = which->kind == '[' ? which->count : 1;
    q.width = its->classes - q.ways;
    need(q.ways > 0 && q.width > 0, "all classes, or none");
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++) {
        int k = (int)number(which->kind == '[' ? which->items + w : which, 0, its->classes);
        need(!named[k], "a class that is there twice");
        named[k] = 1;
        q.goals[w * q.width].plus = sum_of(its, k);
    }
    for (int w = 0; w < q.ways; w++)
        for (int other = 0, g = w * q.width; other < its->classes; other++)
            if (!named[other]) q.goals[g++] = (Goal){.plus = q.goals[w * q.width].plus, .less = sum_of(its, other)};
}

static void read_odds(const Asked *its, int class, int sign, quad at) { /* the odds against a class add up, rival by rival, to what its probability says */
    quad d = (16 + its->sums) * (quad)its->step, near = at - sign * d * q.way;
    need(d < at && at < 1 - d, "a probability so close to 0 or 1 is not proven");
    quad odds = (1 - at) / at;
    q.mean = -sign * (1 - near) / near / odds - q.way * (quad)1e-28;
    q.ways = 1;
    q.width = its->classes;
    q.curves = room(its->classes, sizeof(Curve));
    q.goals = room(its->classes, sizeof(Goal));
    for (int k = 0, g = 0; k < its->classes; k++) {
        if (k == class) continue;
        int own = sum_of(its, class), rival = sum_of(its, k);
        q.curves[g] = (Curve){.weight = 1, .slope = 1 / odds, .power = -sign};
        q.goals[g++] = sign > 0 ? (Goal){.plus = own, .less = rival} : (Goal){.plus = rival, .less = own};
    }
}

static quad size_of(const Node *leaf, const Goal *goal) { /* of what it counts; below a power of two that only rounding reaches */
    quad a = leaf->adds[goal->plus], b = leaf->adds[goal->less], size = quad_abs(a - b);
    if (quad_abs(a) < quad_abs(b)) { quad other = a; a = b, b = other; }
    quad lost = (a - b) - a + b; /* by how much a - b is rounded up */
    return size > 0 && power_below(size) == size && (a > b ? lost > 0 : lost < 0) ? size / 2 : size;
}

static void count_in_grains(void) { /* the scores of trees, and what they are to reach */
    quad largest = 0;
    int count = q.ways * q.width;
    for (int t = 0; t < model.count; t++)
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            for (int g = 0; g < count && node->left < 0; g++) {
                quad size = size_of(node, q.goals + g);
                largest = size > largest ? size : largest;
            }
        }
    quad grain = power_below(largest == 0 ? 1 : largest) / ((quad)((whole)1 << 40));
    q.grain = grain;
    for (int g = 0; g < count; g++) {
        Goal *goal = q.goals + g;
        if (curved() && g >= curve_count()) { goal->goal = g < count - 1 ? 0 : floor_of(q.mean * ((whole)1 << 40)); continue; }
        quad x = goal->least / grain;
        if (!curved() && !model.slope_count) { /* no scores add up to that: none is larger than 2^41 */
            quad reach = ((quad)model.count + 1) * ((whole)1 << 41);
            x = x > reach ? reach : x < -reach ? -reach : x;
        }
        need(quad_abs(x) < FAR / 2, "a goal that is too far away");
        if (!goal->sure) x -= quad_abs(x) * (quad)1e-31;
        if (curved()) goal->goal = floor_of(x);
        else goal->goal = goal->strict ? floor_of(x) + 1 : ceil_of(x);
    }
    for (int t = 0; t < model.count; t++)
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            if (node->left >= 0) continue;
            node->score = room(count, sizeof(whole));
            for (int g = 0; g < count; g++) node->score[g] = ceil_of(counts(node, q.goals + g) / grain);
        }
}

static quad root(quad x) { /* at most the square root */
    quad found = x > 0 ? (quad)sqrtl((long double)x) : 0;
    for (int k = 0; k < 3 && found > 0; k++) found = (found + x / found) / 2;
    return found * (1 - SLACK);
}

static quad held(const Goal *goal) { /* at most what the shifts of a ball take from a goal */
    quad sum = 0, most = 0, squares = 0;
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        if (c->radius == 0) continue;
        quad a = c->slope[goal->plus], b = c->slope[goal->less], loss = (quad_abs(a - b) - (quad_abs(a) + quad_abs(b)) * SLACK) * c->radius;
        if (loss < 0) continue;
        sum += loss;
        squares += loss * loss;
        most = loss > most ? loss : most;
    }
    return (q.norm == '1' ? most : q.norm == '2' ? root(squares) : sum) * (1 - SLACK);
}

static void read_goals(const Asked *its, const char *what, Json *of, Json *least, Json *most) {
    int class = !strcmp(what, "class"), value = !strcmp(what, "value"), which = 1, sign = most ? -1 : 1;
    need(class || value || !strcmp(what, "probability"), "a target that is not known");
    need((least != NULL) + (most != NULL) == !class, "a target without an end, or with two");
    int of_value = its->kind == VALUE || (its->kind == LEAVES && its->classes == 1);
    need(value == of_value && (class || (its->kind != SCORE && its->kind != VOTES)), "the model does not say that");
    q.odds = its->kind == LARGEST && !class;
    need(!q.odds || (model.asked_count == 1 && !model.layer_count && !q.norm), "a probability of several classes of a network, or of models together");
    quad at = least ? real(least) : most ? real(most) : 0.5, low = at * its->over;
    int logits = its->kind == LOGISTIC || of_curves();
    int several = !value && of->kind == '[', by_difference = class && !logits && its->kind != VOTES;
    need(!several || class, "a probability of several classes");
    int every = class && length(of) == its->classes; /* then every row has what is wanted */
    need(!class || length(of) > 0, "no class");
    need(!every || !of_curves(), "all classes of a mean");
    for (int a = 0; class && a < length(of); a++)
        for (int b = 0; b < a; b++) need(number(item(of, a), 0, 1000) != number(item(of, b), 0, 1000), "a class that is there twice");
    if (several && !by_difference && !every) need(of->count == 1, "too many classes");
    if (!value && !by_difference) which = (int)number(item(of, 0), 0, its->classes);
    if (logits) {
        quad d = (15 + its->sums) * (quad)its->step;
        if (!which) { sign = -sign; at = 1 - at; }
        need(d < at && at < 1 - d, "a probability so close to 0 or 1 is not proven");
        low = its->kind == MEAN ? model.weight * at : logit(at - sign * q.way * d) - sign * q.way * (quad)1e-28;
        if (of_curves()) { /* the weights of curves that turn are added to it later */
            q.mean = sign * (low - model.end) - q.way * model.end_off;
            q.mean -= q.way * (quad_abs(low) + quad_abs(model.end) + model.weight) * (quad)1e-30;
            low = 0;
        }
    }
    if (by_difference || its->kind == VOTES || every || q.odds) low = 0;
    if (q.odds) read_odds(its, which, sign, at);
    else if (every) {
        for (int k = 0; k < length(of); k++) number(item(of, k), 0, its->classes);
        q.ways = q.width = 1;
        q.goals = room(1, sizeof(Goal));
    } else if (its->kind == LEAVES) {
        read_ways(of, class, value ? 0 : which, sign, at);
        low = q.steps[0] == 1 && !q.goals[0].plus && !q.goals[0].less;
        sign = 1;
    } else if (its->kind == VOTES) read_votes(which);
    else read_pairs(its, of, by_difference, its->kind == SHARES ? sum_of(its, which) : its->at + 1, sign);
    int sure = its->alone || (model.votes && class), count = q.ways * q.width;
    for (int g = 0; g < count; g++) {
        Goal *goal = q.goals + g;
        quad doubt = sure ? 0 : q.doubts[goal->plus] + q.doubts[goal->less], begun = model.base[goal->plus] - model.base[goal->less];
        goal->sure = sure;
        goal->strict = sure && class && goal->less < goal->plus; /* of equals, the first is predicted */
        goal->least = sign * low - q.way * doubt - begun;
        if (!sure) goal->least -= q.way * (quad_abs(low) + doubt + quad_abs(begun)) * (quad)1e-31;
        if (q.norm && model.features && !model.layer_count) goal->least += held(goal);
    }
}

static void shift_copies(int sums) { /* of so many first sums: each copy but the first begins where a shift leads to, and has goals of its own */
    int copies = 1 + q.shifts, last = (model.sums - 1) / copies, width = q.width;
    for (int r = 1; r < copies; r++) {
        Json *told = q.replies->items + r - 1;
        quad all = 0;
        for (int i = 0; i < told->count; i++) {
            Column *c = q.columns + number(told->items[i].items, 0, q.column_count);
            Json *its = told->items[i].items + 1;
            if (its->kind == 'n') continue;
            need(!c->levels && c->radius != 0 && list(its)->count == 1, "a column that is not shifted, or not one shift");
            quad x = real(its->items), size = quad_abs(x), share = size / c->radius, steps = c->step != 0 ? x / c->step : 0;
            need(c->step == 0 || (quad_abs(steps) < FAR && steps == floor_of(steps) && steps * c->step == x), "a shift that is no step of a grid");
            need(size <= c->radius, "a shift beyond the ball");
            all += (q.norm == '2' ? share * share : share) * (1 + SLACK);
            for (int k = 1 + r * sums; k < 1 + (r + 1) * sums; k++) {
                model.starts[k] += c->slope[k] * x;
                q.begun[k] += quad_abs(c->slope[k] * x);
            }
        }
        need(q.norm == 'a' || all <= 1, "a shift beyond the ball");
    }
    Goal *goals = q.goals;
    q.width *= copies;
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++)
        for (int k = 0; k < q.width; k++) {
            Goal *goal = q.goals + w * q.width + k;
            *goal = goals[w * width + k % width];
            if (goal->plus) goal->plus += k / width * last;
            if (goal->less) goal->less += k / width * last;
        }
}

static void follow(const Goal *before, int ways, int width) { /* each way of the models before with each way of this one */
    Goal *own = q.goals;
    int count = q.ways, each = q.width;
    q.ways *= ways;
    q.width += width;
    need(q.ways <= 10000, "too many ways");
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++) {
        memcpy(q.goals + w * q.width, before + w / count * width, width * sizeof(Goal));
        memcpy(q.goals + w * q.width + width, own + w % count * each, each * sizeof(Goal));
    }
}

static void read_wanted(Json *wanted) { /* of all models that are asked */
    Json *others = maybe(wanted, "others");
    need(model.asked_count == 1 + (others ? list(others)->count : 0), "not what is wanted of each model");
    int ways = 1, width = 0;
    Goal *before = NULL;
    for (int i = 0; i < model.asked_count; i++) {
        Json *its = i ? others->items + i - 1 : wanted, *of = list(part(its, "of"));
        need(of->count == 2, "no target");
        Json *least = maybe(its, "at least"), *most = maybe(its, "at most");
        int both = least && most;
        need(!both || !(of_curves() || model.asked[i].kind == LEAVES || (model.asked[i].kind == LARGEST && is(of->items, "probability"))), "two ends of what is no sum");
        for (int end = 0; end <= both; end++) {
            read_goals(model.asked + i, text_of(of->items), of->items + 1, both && end ? NULL : least, both && !end ? NULL : most);
            if (i + end) follow(before, ways, width);
            before = q.goals, ways = q.ways, width = q.width;
        }
    }
    if (!model.features) count_in_grains();
}

static int goes_left(const Node *node, int j, int cell, int copy) {
    Column *c = q.columns + j;
    if (!c->levels && cell > c->cut_count) return to_left(node, c->lost);
    if (!c->levels && c->place[copy] && !isinf(node->cut)) {
        int at = 0;
        while (c->read[at] != node->cut) at++;
        return cell < c->place[copy][at];
    }
    if (!c->levels) return cell < c->cut_count ? c->cuts[cell] <= node->cut : node->cut == INFINITY;
    for (int i = 0; i < c->feature_count; i++)
        if (c->features[i] == node->feature) return to_left(node, c->inputs[cell][i]);
    return 0;
}

static int pair_of(Grown *tree, Tree *from, int j, int copy) { /* the blocks of a column in a tree; returns 0 if it does not tell it apart */
    Column *c = q.columns + j;
    int *label = room(c->cells, sizeof(int)), *other = room(2 * c->cells + 2, sizeof(int)), labels = 1;
    for (int i = 0; i < from->count; i++) {
        Node *node = from->nodes + i;
        if (node->left < 0 || column_of[node->feature] != j) continue;
        for (int k = 0; k < 2 * labels; k++) other[k] = -1;
        labels = 0;
        for (int cell = 0; cell < c->cells; cell++) {
            if (!q.alive[c->first + cell]) continue;
            int key = 2 * label[cell] + goes_left(node, j, cell, copy);
            if (other[key] < 0) other[key] = labels++;
            label[cell] = other[key];
        }
    }
    for (int k = 0; k < labels; k++) other[k] = -1;
    if (labels > 1) {
        int found = 0, *sample = room(labels, sizeof(int));
        for (int cell = 0; cell < c->cells; cell++) {
            if (!q.alive[c->first + cell]) { label[cell] = -1; continue; }
            if (other[label[cell]] < 0) { /* sorted by their lowest cell */
                sample[found] = cell;
                other[label[cell]] = q.block_count + found++;
            }
            label[cell] = other[label[cell]];
        }
        more(q.pairs, q.pair_count, q.pair_space);
        q.pairs[q.pair_count++] = (Pair){j, q.block_count, q.block_count + found, label, sample};
        q.block_count += found;
        tree->pair_end = q.pair_count;
    } else free(label);
    free(other);
    return labels > 1;
}

static void read_tree(int t) {
    int copy = t / model.count, width = q.width / q.copies;
    Tree *from = model.trees + t % model.count;
    Grown *tree = q.trees + t;
    int n = from->count, *parent = room(n, sizeof(int)), *asked = room(q.column_count, sizeof(int));
    tree->leaf = q.leaf_count;
    tree->pair = tree->pair_end = q.pair_count;
    for (int i = 0; i < n; i++) parent[i] = -1;
    for (int i = 0; i < n; i++) {
        Node *node = from->nodes + i;
        if (node->left < 0) continue;
        need(node->feature < FEATURES && column_of[node->feature] >= 0, "no column sets a feature");
        asked[column_of[node->feature]] = 1;
        for (int side = 0; side < 2; side++) {
            int child = side ? node->right : node->left;
            need(parent[child] < 0 || parent[child] == i, "a node of two parents");
            parent[child] = i;
        }
    }
    int *blocks = room(q.column_count, sizeof(int)), **samples = room(q.column_count, sizeof(int *)); /* of a column that is not told apart, one of all cells */
    unsigned char **inside = room(q.column_count, sizeof(unsigned char *));
    for (int j = 0; j < q.column_count; j++) {
        if (!asked[j]) continue;
        Column *c = q.columns + j;
        if (pair_of(tree, from, j, copy)) {
            blocks[j] = q.pairs[q.pair_count - 1].last - q.pairs[q.pair_count - 1].first;
            samples[j] = q.pairs[q.pair_count - 1].sample;
        } else {
            samples[j] = room(1, sizeof(int));
            for (int cell = c->cells - 1; cell >= 0; cell--) if (q.alive[c->first + cell]) samples[j][0] = cell, blocks[j] = 1;
        }
        inside[j] = room(blocks[j], 1);
    }
    for (int leaf = 0; leaf < n; leaf++) {
        if (from->nodes[leaf].left >= 0 || (leaf && parent[leaf] < 0)) continue;
        int reached = 1, first = q.entry_count, rooted = leaf == 0;
        memset(asked, 0, q.column_count * sizeof *asked);
        for (int child = leaf, at = parent[leaf]; at >= 0; child = at, at = parent[at]) {
            Node *node = from->nodes + at;
            int j = column_of[node->feature];
            if (!asked[j]) memset(inside[j], 1, blocks[j]);
            asked[j] = 1;
            rooted |= at == 0;
            for (int b = 0; b < blocks[j] && node->left != node->right; b++)
                if (inside[j][b]) inside[j][b] = goes_left(node, j, samples[j][b], copy) == (child == node->left);
        }
        if (!rooted) continue;
        for (int j = 0; j < q.column_count && reached; j++) {
            if (!asked[j]) continue;
            reached = 0;
            for (int b = 0; b < blocks[j]; b++) reached |= inside[j][b];
        }
        for (int p = tree->pair; p < tree->pair_end && reached; p++) {
            Pair *pair = q.pairs + p;
            int j = pair->column, from_member = q.member_count;
            if (!asked[j]) continue;
            for (int b = 0; b < blocks[j]; b++) {
                if (!inside[j][b]) continue;
                more(q.members, q.member_count, q.member_space);
                q.members[q.member_count++] = pair->first + b;
            }
            if (q.member_count - from_member == blocks[j]) { q.member_count = from_member; continue; }
            more(q.entries, q.entry_count, q.entry_space);
            q.entries[q.entry_count++] = (Entry){j, p, from_member, q.member_count};
        }
        if (!reached) { q.entry_count = first; continue; }
        more(q.leaves, q.leaf_count, q.leaf_space);
        whole *score = room(q.ways * q.width, sizeof(whole)); /* a copy adds only to goals of its own */
        for (int w = 0; w < q.ways; w++)
            for (int k = 0; k < width; k++) score[w * q.width + copy * width + k] = from->nodes[leaf].score[w * width + k];
        q.leaves[q.leaf_count++] = (Leaf){score, first, q.entry_count};
    }
    tree->leaf_end = q.leaf_count;
    free(parent);
    free(asked);
    free(inside);
}

static void read_question(Json *shared, Json *own, Json *wanted, double extra) { /* extra: what is wanted costs by itself */
    memset(&q, 0, sizeof q);
    need(is(part(shared, "format"), "butfor.question/1") && is(part(own, "format"), "butfor.proof/1"), "another format");
    Json *below = part(own, "below"), *changes = part(own, "changes");
    Json *cost = maybe(own, "cost");
    need(!cost || is(cost, "sum") || is(cost, "largest"), "a cost that is not known");
    q.largest = cost && is(cost, "largest");
    q.claim = below->kind == 'n' ? (quad)INFINITY : real(below);
    need(q.claim > 0, "a bound that says nothing");
    need(extra >= 0, "a target that costs less than nothing");
    q.done = q.claim <= extra;
    if (q.done) return;
    if (extra > 0 && below->kind != 'n') {
        quad left = q.claim - extra;
        q.claim = q.claim - left == extra && left + extra == q.claim ? left : left + q.claim * (quad)1e-33; /* exact, or a little more */
    }
    q.none = below->kind == 'n' || q.largest;
    q.below = q.none ? 1 : q.claim;
    q.unit = power_below(q.below) / ((quad)((whole)1 << 40));
    q.bound = ceil_of(q.below / q.unit);
    read_ball(maybe(own, "ball"), maybe(own, "replies"), list(part(shared, "columns"))->count);
    read_columns(shared, own);
    if (maybe(own, "form")) read_form(part(own, "form"));
    int plain = !q.reaching && !q.form.told;
    need(plain || !(q.largest || of_curves() || model.layer_count), "a largest reach, or a form, of what is no sum");
    q.counted = changes->kind != 'n';
    q.limit = q.counted ? number(changes, 0, q.column_count + 1) : q.column_count;
    read_relations(maybe(own, "relations"));
    read_rules(maybe(own, "never"));
    int sums = model.inputs - 1;
    if (q.shifts) put_beside(1 + q.shifts);
    q.doubts = model.doubts;
    q.way = 1;
    if (model.features) read_terms();
    else if (model.slope_count) read_slopes_of_columns();
    read_wanted(wanted);
    need(plain || !q.odds, "a largest reach, or a form, of what is no sum");
    q.begun = room(model.inputs, sizeof(quad));
    for (int k = 0; k < model.inputs; k++) q.begun[k] = quad_abs(model.starts[k]);
    if (q.shifts) shift_copies(sums);
    if (model.features) return;
    for (int j = 0; j < q.column_count; j++) { q.columns[j].first = q.cells; q.cells += q.columns[j].cells; }
    q.price = room(q.cells, sizeof(whole));
    q.home = room(q.cells, 1);
    q.alive = room(q.cells, 1);
    wide total = 0;
    whole *least = room(q.column_count, sizeof(whole));
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        memcpy(q.price + c->first, c->price, c->cells * sizeof(whole));
        if (c->stay) q.home[c->first + c->home] = 1;
        least[j] = q.bound;
        int some = 0;
        for (int k = 0; k < c->cells; k++)
            if (c->price[k] != FAR && (!some || c->price[k] < least[j])) least[j] = c->price[k], some = 1;
        total += least[j];
    }
    for (int j = 0; j < q.column_count; j++)
        for (int k = 0; k < q.columns[j].cells; k++) {
            whole p = q.columns[j].price[k];
            q.alive[q.columns[j].first + k] = p != FAR && p < q.bound - total + least[j];
        }
    Goal *goals = q.goals;
    int width = q.width;
    q.steps_end = curved() ? curve_count() : width;
    q.width *= q.copies;
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++)
        for (int k = 0; k < q.width; k++) q.goals[w * q.width + k] = goals[w * width + k % width];
    q.tree_count = model.count * q.copies;
    q.trees = room(q.tree_count, sizeof(Grown));
    for (int t = 0; t < q.tree_count; t++) read_tree(t);
    for (int g = 0; g < q.ways * q.width; g++) {
        int weighed = 0;
        for (int j = 0; j < q.column_count; j++) weighed |= g % q.width < q.steps_end && slope_of(q.columns + j, q.goals + g) != 0;
        whole step = 0;
        wide some = 0; /* sums of scores are that of the first leaves, and so many steps */
        for (int t = 0; t < q.tree_count; t++)
            for (int i = q.trees[t].leaf; i < q.trees[t].leaf_end; i++) {
                whole first = q.leaves[q.trees[t].leaf].score[g], a = llabs(q.leaves[i].score[g] - first), b = step;
                if (i == q.trees[t].leaf) some += first;
                while (a) { whole r = b % a; b = a; a = r; }
                step = b;
            }
        if (step && !curved() && !weighed) q.goals[g].goal += (whole)(((some - q.goals[g].goal) % step + step) % step);
    }
}

/* ------------------------------------------------------------------------------------------------------ the walk */

typedef struct { unsigned char *alive, *leaf; int nobody, way; } Box;

static struct { whole *message, *rates, toll, *price; int priced, taxed; double *tax; quad back; int shift; Box *open; int count, space; whole *least, *paid, *cell, *cost; unsigned char *home, *living; } walk;

static Box box_like(Box *old) {
    Box box = {room(q.cells, 1), room(q.leaf_count, 1), 0, old->way};
    memcpy(box.alive, old->alive, q.cells);
    memcpy(box.leaf, old->leaf, q.leaf_count);
    return box;
}

static void blocks_of(Box *box) { /* of each block: the least price of its living cells, and whether the row may stay in it */
    for (int b = 0; b < q.block_count; b++) walk.least[b] = FAR, walk.home[b] = walk.living[b] = 0;
    for (int p = 0; p < q.pair_count; p++) {
        Column *c = q.columns + q.pairs[p].column;
        for (int k = 0; k < c->cells; k++) {
            if (!box->alive[c->first + k]) continue;
            int b = q.pairs[p].of_cell[k];
            walk.living[b] = 1;
            walk.home[b] |= q.home[c->first + k];
            if (q.price[c->first + k] < walk.least[b]) walk.least[b] = q.price[c->first + k];
        }
    }
}

static int left_out(Box *box) { /* the cells that rules forbid because all else of them is true; returns whether there were any */
    int any = 0;
    for (int r = 0; r < q.rule_count; r++) {
        Rule *rule = q.rules + r;
        Part *last = rule->parts;
        int free = 0;
        for (int i = 0; i < rule->count; i++) {
            Part *part = rule->parts + i;
            Column *c = q.columns + part->column;
            int other = 0;
            for (int k = 0; k < c->cells; k++) other |= box->alive[c->first + k] && !part->inside[k];
            free += other;
            if (other) last = part;
        }
        Column *c = q.columns + last->column;
        for (int k = 0; k < c->cells && free < 2; k++) {
            any |= box->alive[c->first + k] && last->inside[k];
            box->alive[c->first + k] &= !last->inside[k];
        }
    }
    return any;
}

static void narrowed(Box *box) {
    SPACE(whole, least, q.column_count);
    SPACE(int, stays, q.column_count);
    whole must;
    wide total;
    do {
        must = total = 0;
        for (int j = 0; j < q.column_count; j++) {
            Column *c = q.columns + j;
            least[j] = FAR;
            stays[j] = 0;
            for (int k = c->first; k < c->first + c->cells; k++)
                if (box->alive[k]) { stays[j] |= q.home[k]; if (q.price[k] < least[j]) least[j] = q.price[k]; }
            if (least[j] == FAR) { box->nobody = 1; return; }
            total += least[j];
            must += !stays[j];
        }
        if (total >= q.bound || must > q.limit) { box->nobody = 1; return; }
        for (int j = 0; j < q.column_count; j++) {
            Column *c = q.columns + j;
            int some = 0, held = must == q.limit && stays[j];
            stays[j] = 0;
            for (int k = c->first; k < c->first + c->cells; k++) {
                box->alive[k] &= !(held && !q.home[k]) && q.price[k] < q.bound - total + least[j];
                some |= box->alive[k];
                stays[j] |= box->alive[k] && q.home[k];
            }
            box->nobody |= !some;
        }
    } while (left_out(box));
    blocks_of(box);
    for (int t = 0; t < q.tree_count; t++) {
        int some = 0;
        for (int i = q.trees[t].leaf; i < q.trees[t].leaf_end; i++) {
            if (!box->leaf[i]) continue;
            wide cost = total;
            whole changes = must;
            for (int e = q.leaves[i].from; e < q.leaves[i].to; e++) {
                Entry *entry = q.entries + e;
                whole near = FAR;
                int home = 0;
                for (int m = entry->from; m < entry->to; m++) {
                    if (walk.least[q.members[m]] < near) near = walk.least[q.members[m]];
                    home |= walk.home[q.members[m]];
                }
                cost += near == FAR ? q.bound : near - least[entry->column];
                changes += stays[entry->column] && !home;
            }
            box->leaf[i] = cost < q.bound && changes <= q.limit;
            some |= box->leaf[i];
        }
        box->nobody |= !some;
    }
}

static wide shifted(wide x, int by) { return by > 126 ? (x < 0 ? -1 : 0) : x >> by; }

static whole most_of_numbers(Box *box, int j, quad slope) { /* the most that a number of living cells adds; a missing one adds nothing */
    Column *c = q.columns + j;
    quad best = -INFINITY;
    for (int k = 0; k < c->cells; k++) {
        if (!box->alive[c->first + k]) continue;
        quad low = k && c->ends[k - 1].after > c->least ? c->ends[k - 1].after : c->least;
        quad high = k < c->cut_count && c->ends[k].end < c->most ? c->ends[k].end : c->most;
        if (k > c->cut_count) low = high = 0;
        else if (c->step != 0 && low <= high) { /* the points of a grid that lie in the cell */
            quad blur = 2 * c->blur * (quad_abs(c->anchor) + (quad_abs(low) > quad_abs(high) ? quad_abs(low) : quad_abs(high)));
            whole first = ceil_of((low - blur - c->anchor) / c->step), last = floor_of((high + blur - c->anchor) / c->step);
            low = c->anchor + first * c->step - blur;
            high = c->anchor + last * c->step + blur;
        }
        quad ends[] = {slope * low, slope * high, c->stay && k == c->home && c->known ? slope * c->start : -INFINITY};
        for (int e = low <= high || ends[2] == -(quad)INFINITY ? 0 : 2; e < 3; e++) if (ends[e] > best) best = ends[e];
    }
    quad grains = best / q.grain;
    need(quad_abs(grains) < FAR / 2, "larger numbers than this checker counts");
    return ceil_of(grains + quad_abs(grains) * (quad)1e-31);
}

static wide added_up(Box *box, int g, int sign) { /* the most that living leaves and numbers add up to towards a goal, or the least, negated */
    wide total = 0;
    for (int j = 0; j < q.column_count && g % q.width < q.steps_end; j++) {
        quad slope = sign * slope_of(q.columns + j, q.goals + g);
        if (slope != 0) total += most_of_numbers(box, j, slope);
    }
    for (int t = 0; t < q.tree_count; t++) {
        whole best = -FAR;
        for (int i = q.trees[t].leaf; i < q.trees[t].leaf_end; i++)
            if (box->leaf[i] && sign * q.leaves[i].score[g] > best) best = sign * q.leaves[i].score[g];
        total += best;
    }
    return total;
}

static quad highest(quad worth, quad rate, quad low, quad high, quad grain) { /* the most of worth x share - rate x x between two ends, or more */
    quad best = -INFINITY, spare = worth * (quad)1e-28 + rate * (quad_abs(low) + quad_abs(high)) * (quad)1e-31 + (quad)1e-20;
    quad ends[] = {low, high < 0 ? high : 0}; /* below 0 it is convex */
    for (int e = 0; e < 2 && (low < 0 || high == 0); e++) {
        quad at = worth * share(ends[e] * grain) - rate * ends[e];
        if (at > best) best = at;
    }
    if (high > 0) { /* above 0 it is concave, and lies below each tangent */
        quad start = low > 0 ? low : 0, x = worth > 0 ? high : start;
        double slope = worth > 0 ? (double)(rate / (worth * grain)) : 1, p = (1 + sqrt(fmax(1 - 4 * slope, 0))) / 2;
        if (slope > 0) x = slope < 0.25 ? log(p * p / slope) / grain : start;
        x = x < start ? start : x > high ? high : x;
        quad s = share(x * grain), rise = worth * grain * s * (1 - s), off = (rise + rate) * (quad)1e-30;
        quad up = (rise - rate + off) * (high - x), down = (rate - rise + off) * (x - start), more = up > down ? up : down;
        quad at = worth * share(x * grain) - rate * x + (more > 0 ? more : 0);
        if (at > best) best = at;
    }
    return best + spare;
}

static quad highest_knot(const Curve *c, quad worth, quad rate, quad low, quad high, quad grain) { /* the same of lines between knots: an end, or a knot */
    quad best = -INFINITY, size = 1, ends[] = {low, high};
    for (int e = 0; e < 2; e++) {
        quad at = worth * outside(c, ends[e] * grain, 1) - rate * ends[e];
        if (at > best) best = at;
    }
    for (int k = 0; k < c->knots; k++) {
        quad x = c->x[k] / grain, at = worth * (c->y[k] + c->rough) - rate * x;
        if (x > low && x < high && at > best) best = at;
        if (quad_abs(c->y[k]) > size) size = quad_abs(c->y[k]);
    }
    return best + (worth * (size + c->rough) + rate * (quad_abs(low) + quad_abs(high))) * (quad)1e-28 + (quad)1e-20;
}

static quad highest_odds(const Curve *c, quad worth, quad rate, quad low, quad high) { /* the same of what the odds of a rival add */
    quad steep = worth * c->slope * q.grain, spare = (quad_abs(rate) * (quad_abs(low) + quad_abs(high)) + 2 * worth + 1) * (quad)1e-29;
    if (c->power > 0) { /* up to 2 it is convex, and from there on the first x is the highest */
        quad turn = log((double)(2 / c->slope)) / q.grain;
        turn -= quad_abs(turn) * (quad)1e-12 + (quad)1e-12 / q.grain; /* not above it, however logarithms are rounded */
        int turns = turn < high;
        turn = turn < low ? low : turn > high ? high : turn;
        quad best = worth * adds(c, low * q.grain, 1) - rate * low, at = worth * adds(c, turn * q.grain, 1) - rate * turn;
        best = at > best ? at : best;
        if (turns && worth * 2 - rate * turn > best) best = worth * 2 - rate * turn;
        return best + spare;
    }
    quad x = rate > 0 && steep > 0 ? -log((double)(rate / steep)) / q.grain : low; /* it is concave, and lies below each tangent */
    x = x < low ? low : x > high ? high : x;
    quad fall = -x * q.grain, rise = steep * quad_exp(fall > 1000 ? 1000 : fall < -1000 ? -1000 : fall), off = (rise + rate) * (quad)1e-28;
    quad up = (rise - rate + off) * (high - x), down = (rate - rise + off) * (x - low), more = up > down ? up : down;
    return worth * adds(c, x * q.grain, 1) - rate * x + (more > 0 ? more : 0) + spare + worth * quad_abs(adds(c, low * q.grain, -1)) * (quad)1e-29;
}

static quad above(const Curve *c, quad worth, quad rate, quad inner, quad low, quad high) { /* the same of what a sum adds to the mean */
    worth *= c->weight;
    if (c->power) return highest_odds(c, worth, rate, low, high);
    if (c->straight) { /* the line is highest at an end */
        quad a = worth * (low * q.grain + c->turned) - rate * low, b = worth * (high * q.grain + c->turned) - rate * high;
        return (a > b ? a : b) + (worth + rate) * (1 + quad_abs(low) + quad_abs(high)) * (quad)1e-31;
    }
    if (!c->bent) return c->knots ? highest_knot(c, worth, rate, low, high, q.grain) : highest(worth, rate, low, high, q.grain);
    quad grain = ldexp(1, -20), first = line_in(c, low * q.grain, -1) / grain, last = line_in(c, high * q.grain, 1) / grain;
    quad more = inner * (c->shift + c->off) + inner * (quad_abs(c->shift) + c->off) * (quad)1e-30;
    quad most = c->knots ? highest_knot(c, worth, inner * grain, first, last, grain) : highest(worth, inner * grain, first, last, grain);
    return most + more + highest(inner * c->slope, rate, low, high, q.grain);
}

static wide curve(Box *box) { /* at most so much is the mean worth more than its sums */
    quad total = 0, worth = (quad)walk.rates[q.width - 1] * ((whole)1 << 40);
    for (int g = 0, bend = curve_count(); curved() && g < curve_count(); g++) {
        quad zero = q.goals[g].goal, inner = q.curves[g].bent ? (quad)walk.rates[bend++] * ((whole)1 << 40) : 0;
        total += above(q.curves + g, worth, walk.rates[g], inner, -(quad)added_up(box, g, -1) - zero, (quad)added_up(box, g, 1) - zero);
    }
    need(quad_abs(total) < (quad)FAR * FAR / 8, "larger numbers than this checker counts");
    return (wide)total + 1;
}

static void reprice(int way);

static wide bound_of(Box *box) { /* and what each living cell costs its column, and each living leaf its tree */
    blocks_of(box);
    if (walk.priced != box->way) reprice(box->way);
    int first = box->way * q.width;
    wide goal = 0;
    for (int g = 0; g < q.width; g++) goal += (wide)walk.rates[g] * q.goals[first + g].goal;
    if (curved()) goal -= curve(box);
    wide total = shifted(goal, walk.shift) - (wide)walk.toll * q.limit - (wide)walk.back;
    wide *cell = room(q.cells, sizeof(wide));
    for (int c = 0; c < q.cells; c++) cell[c] = walk.price[c] + (q.home[c] ? 0 : (wide)walk.toll);
    for (int t = 0; t < q.tree_count; t++) {
        Grown *tree = q.trees + t;
        for (int p = tree->pair; p < tree->pair_end; p++) {
            Pair *pair = q.pairs + p;
            int living = 0, asked = 0;
            for (int b = pair->first; b < pair->last; b++) living += walk.living[b];
            for (int i = tree->leaf; i < tree->leaf_end && !asked; i++)
                for (int e = q.leaves[i].from; box->leaf[i] && e < q.leaves[i].to && !asked; e++) {
                    if (q.entries[e].pair != p) continue;
                    int mine = 0;
                    for (int m = q.entries[e].from; m < q.entries[e].to; m++) mine += walk.living[q.members[m]];
                    asked = mine < living;
                }
            for (int b = pair->first; b < pair->last; b++) walk.paid[b] = asked ? walk.message[b] : 0;
            Column *c = q.columns + pair->column;
            for (int k = 0; k < c->cells && asked; k++)
                if (box->alive[c->first + k]) cell[c->first + k] -= walk.paid[pair->of_cell[k]];
        }
        whole least = FAR;
        for (int i = tree->leaf; i < tree->leaf_end; i++) {
            if (!box->leaf[i]) continue;
            wide cost = 0;
            for (int g = 0; g < q.width; g++) cost -= (wide)walk.rates[g] * q.leaves[i].score[first + g];
            cost = shifted(cost, walk.shift);
            for (int e = q.leaves[i].from; e < q.leaves[i].to; e++) {
                whole low = FAR;
                for (int m = q.entries[e].from; m < q.entries[e].to; m++)
                    if (walk.living[q.members[m]] && walk.paid[q.members[m]] < low) low = walk.paid[q.members[m]];
                cost += low;
            }
            need(cost > -FAR && cost < FAR, "larger numbers than this checker counts");
            walk.cost[i] = (whole)cost;
            if (walk.cost[i] < least) least = walk.cost[i];
        }
        total += least;
    }
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        whole least = FAR;
        for (int k = c->first; k < c->first + c->cells; k++) {
            if (!box->alive[k]) continue;
            need(cell[k] > -FAR && cell[k] < FAR, "larger numbers than this checker counts");
            walk.cell[k] = (whole)cell[k];
            if (walk.cell[k] < least) least = walk.cell[k];
        }
        total += least;
    }
    free(cell);
    return total;
}

static void dropped(unsigned char *living, whole *cost, int from, int to, wide spare) {
    whole least = FAR;
    for (int i = from; i < to; i++) if (living[i] && cost[i] < least) least = cost[i];
    for (int i = from; i < to; i++) living[i] = living[i] && cost[i] - (wide)least < spare;
}

static void put(Box box) {
    narrowed(&box);
    more(walk.open, walk.count, walk.space);
    walk.open[walk.count++] = box;
}

static char *mask_of(Json *told) { /* of cells or levels, hexadecimal */
    char *mask = text_of(told);
    if (!strncmp(mask, "0x", 2)) mask += 2;
    need(*mask && strspn(mask, "0123456789abcdef") == strlen(mask), "a mask that this checker does not read");
    return mask;
}

static int in_mask(const char *mask, int k) {
    size_t size = strlen(mask);
    int digit = (size_t)k / 4 < size ? mask[size - 1 - k / 4] : '0';
    return (digit <= '9' ? digit - '0' : digit - 'a' + 10) >> k % 4 & 1;
}

static void split(Json *what) {
    need(list(what)->count == 2, "a split of two numbers");
    int j = (int)number(what->items, 0, q.column_count);
    Column *c = q.columns + j;
    Box old = walk.open[--walk.count], parts[2] = {box_like(&old), box_like(&old)};
    int in[2] = {0, 0};
    char *mask = what->items[1].kind == '"' ? mask_of(what->items + 1) : NULL;
    whole cut = mask ? 0 : number(what->items + 1, 0, c->cells + 1);
    for (int k = 0; k < c->cells; k++) {
        int first = mask ? in_mask(mask, k) : k < cut;
        if (!old.alive[c->first + k]) continue;
        in[first]++;
        parts[first].alive[c->first + k] = 0; /* parts[0] comes first, parts[1] is the rest */
    }
    need(in[0] && in[1], "a split leaves no cell in a part");
    put(parts[1]);
    put(parts[0]);
    free(old.alive);
    free(old.leaf);
}

static void reprice(int way) { /* the prices of cells, and what is taken from the bound, with what is said of taxes, shares, a tangent and rates */
    quad worth = q.unit / q.grain * ldexp(1, -walk.shift), /* of a unit of a score, at rate 1 */
    back = q.form.back, size = quad_abs(back);
    walk.priced = way;
    for (int e = 0; e < q.limit_count; e++) {
        back += walk.tax[e] * q.limits[e].most;
        size += quad_abs(walk.tax[e] * q.limits[e].most);
    }
    back = (back + size * (quad)1e-31) / q.unit;
    need(quad_abs(back) < FAR, "larger numbers than this checker counts");
    walk.back = ceil_of(back);
    memcpy(walk.price, q.price, q.cells * sizeof(whole));
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        int more = c->steep != 0;
        quad gain = 0, gains = 0;
        for (int g = 0; g < q.steps_end; g++) {
            quad term = walk.rates[g] * worth * slope_of(c, q.goals + way * q.width + g);
            gain += term;
            gains += quad_abs(term);
        }
        more |= gains != 0;
        for (int e = 0; walk.taxed && e < q.limit_count; e++) more |= q.limits[e].adds[j] != NULL;
        for (int k = 0; k < prices_of(c); k++) more |= c->asked[k] != c->told[k];
        for (int k = 0; more && k < c->cells; k++) {
            if (!q.alive[c->first + k]) continue;
            int lost = !c->levels && k > c->cut_count;
            quad slope = lost ? 0 : c->tilt - gain, terms = lost ? 0 : c->steep + gains, found;
            for (int e = 0; e < q.limit_count; e++) {
                quad add = q.limits[e].adds[j] ? walk.tax[e] * q.limits[e].adds[j][c->levels ? k : 0] : 0;
                slope += add;
                terms += quad_abs(add);
            }
            quad price = q.none ? 0 : c->levels ? c->asked[k] : c->fees[3];
            found = c->levels || lost ? price + slope - (price + terms) * (quad)1e-31 : least_in(c, k, slope, terms, q.none);
            need(quad_abs(found / q.unit) < FAR, "larger numbers than this checker counts");
            walk.price[c->first + k] = floor_of(found / q.unit);
        }
    }
}

static void say_taxes(Json *what) { /* a unit of each limit costs so much more, and the limits are paid back */
    need(list(what)->count == q.limit_count && q.limit_count, "not a tax for each limit");
    for (int e = 0; e < q.limit_count; e++) {
        walk.tax[e] = real(what->items + e);
        need(walk.tax[e] >= 0, "a negative tax");
    }
    walk.taxed = 1, walk.priced = -1;
}

static void say_shares(Json *what) { /* the largest reach is at least the sum of such shares of what columns reach, if they are at most 1 together */
    quad all = 0, one = ldexp(1, 100); /* they are rounded up to parts of it, and then their sum is exact */
    need(q.reaching && list(what)->count == q.column_count, "not a share for each column, or nothing is reached");
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        quad share = real(what->items + j);
        need(share >= 0, "a negative share");
        all += up(share * one, 0);
        for (int k = 0; k < prices_of(c); k++) {
            quad more = q.none ? 0 : share * c->reach[k];
            c->asked[k] = more == 0 ? c->told[k] : (c->told[k] + more) * (1 - (quad)1e-31);
        }
    }
    need(all <= one, "shares that add up to more than 1");
    walk.priced = -1;
}

static void say_tangent(Json *what) {
    need(q.form.told && !q.none, "a tangent of no form");
    need(list(what)->count == q.form.count, "not a change for each column of a form");
    SPACE(quad, y, q.form.count);
    for (int i = 0; i < q.form.count; i++) y[i] = real(what->items + i);
    at_tangent(y);
    walk.priced = -1;
}

/* ---------------------------------------------------------------------------------- the walk of weighted sums */

/* Of a column: some levels, or numbers above one and at most another; whether it may stay as it is, or change to one of them. */
typedef struct { unsigned char *levels; double above, most; int stay, change; } Piece;
typedef struct { Piece *pieces; int way, *sides; } Region; /* sides: of 0, on which units are, 1 or -1 */
typedef struct { quad cost; int there; } Least, Pair_of_least[2]; /* of what it costs less what it gains, or less */

static struct { quad *rates, *reach, *low, *high, *holds; int goals, count, space; Region *open; } linear;
/* goals: of the longest way; low, high: of units, the shares in the lines below and above; holds: that the one is not above the other */

static quad gain(const quad *adds, const quad *worth, quad *size) {
    quad total = 0;
    for (int k = 0; k < model.inputs + q.limit_count; k++) {
        total += worth[k] * adds[k];
        *size += quad_abs(worth[k] * adds[k]);
    }
    return total;
}

static void least_of(const Column *c, const Piece *piece, const quad *worth, int none, Least found[2]) { /* if it stays, and if it changes */
    found[0] = found[1] = (Least){0, 0};
    for (int k = 0; c->levels && k < c->cells; k++) {
        if (!piece->levels[k]) continue;
        quad size = none ? 0 : c->asked[k], cost = size - gain(c->adds[k], worth, &size) - size * SLACK;
        Least *its = found + (k != c->home);
        if (!its->there || cost < its->cost) *its = (Least){cost, 1};
    }
    if (c->levels) return;
    quad steep = c->steep, size = 0, slope = gain(c->slope, worth, &steep) - c->tilt, shift = gain(c->adds[0], worth, &size);
    if (piece->stay) {
        quad own = 0, lost = gain(c->none, worth, &own), stays = c->known ? slope * c->start + shift : lost;
        found[0] = (Least){-stays - (c->known ? steep * quad_abs((quad)c->start) + size : own) * SLACK, 1};
    }
    quad low = piece->above > c->least ? piece->above : c->least, high = piece->most < c->most ? piece->most : c->most;
    quad moved = piece->change ? change_in(c, low, high, -slope, steep, none) : INFINITY;
    if (moved < INFINITY) found[1] = (Least){moved - shift - size * SLACK, 1};
}

static int together(Least (*each)[2], quad *total) { /* where as many columns change as may; returns 0 if nobody is there */
    int places = (int)q.limit, count = 0;
    quad size = 0;
    SPACE(quad, saved, q.column_count);
    *total = 0;
    for (int j = 0; j < q.column_count; j++) {
        Least stay = each[j][0], change = each[j][1], own = stay.there ? stay : change;
        if (!own.there) return 0;
        places -= !stay.there;
        *total += own.cost;
        size += quad_abs(own.cost);
        if (!stay.there || !change.there || change.cost >= stay.cost) continue;
        int at = count++;
        for (; at && saved[at - 1] > change.cost - stay.cost; at--) saved[at] = saved[at - 1];
        saved[at] = change.cost - stay.cost;
    }
    if (places < 0) return 0;
    for (int k = 0; k < count && k < places; k++) { *total += saved[k]; size -= saved[k]; }
    *total -= size * SLACK;
    return 1;
}

static quad end_of(const Region *box, int g, int sign) { /* the most that a logit may be for rows below the claim, or the least, negated */
    quad total = 0, size = 0, unit = linear.reach[g] > 0 ? linear.reach[g] : 1;
    SPACE(quad, worth, model.inputs + q.limit_count);
    worth[q.goals[g].plus] += sign * unit;
    worth[q.goals[g].less] -= sign * unit;
    for (int j = 0; j < q.column_count; j++) {
        Least its[2];
        least_of(q.columns + j, box->pieces + j, worth, q.none || linear.reach[g] == 0, its);
        quad least = its[0].there && (!its[1].there || its[0].cost < its[1].cost) ? its[0].cost : its[1].cost;
        total += least;
        size += quad_abs(least);
    }
    quad most = (linear.reach[g] > 0 ? q.below : 0) - total;
    size += quad_abs(most);
    return most / unit - sign * q.goals[g].least + (size / unit + quad_abs(q.goals[g].least)) * SLACK;
}

static int goals_of(const Region *box) { return q.steps ? q.steps[box->way] : linear.goals; } /* the rates of limits come after */

static quad rated(const Region *box, quad *worth, quad *size) { /* the sum of rates x goals; what a unit of each last sum is worth is added */
    quad total = 0;
    for (int k = 0, goals = goals_of(box); k < goals + q.limit_count; k++) {
        Goal *goal = q.goals + box->way * q.width + k;
        quad term = linear.rates[k] * (k < goals ? goal->least : -q.limits[k - goals].most);
        total += term;
        *size += quad_abs(term);
        if (k >= goals) continue;
        worth[goal->plus] += linear.rates[k];
        worth[goal->less] -= linear.rates[k];
    }
    return total;
}

static int bounded(const Region *box, quad *total) { /* at least so much do rows of a box cost; returns 0 if nobody is there */
    int goals = goals_of(box);
    quad size = 0;
    SPACE(quad, worth, model.inputs + q.limit_count);
    SPACE(Pair_of_least, each, q.column_count);
    quad begun = rated(box, worth, &size) - q.form.back;
    size += quad_abs(q.form.back);
    for (int e = 0; e < q.limit_count; e++) worth[model.inputs + e] = linear.rates[goals + e];
    for (int j = 0; j < q.column_count; j++) least_of(q.columns + j, box->pieces + j, worth, q.none, each[j]);
    if (!together(each, total)) return 0;
    quad mean = linear.rates[goals + q.limit_count], scale = (quad)((whole)1 << 40) / q.below;
    for (int g = 0; g < goals && curved(); g++) {
        quad low = -end_of(box, g, -1), high = end_of(box, g, 1);
        if (high < low) return 0;
        quad curve = above(q.curves + g, mean * scale, linear.rates[g] * scale, 0, low, high) / scale;
        begun -= curve;
        size += quad_abs(curve);
    }
    if (curved()) { begun += mean * q.mean; size += quad_abs(mean * q.mean); }
    *total += begun - (size + quad_abs(*total)) * SLACK;
    return 1;
}

static int lies(const Column *c, const Part *part) { /* whether the row's own value does */
    if (c->levels) return part->inside[c->home];
    return c->known ? part->above < c->start && c->start <= part->most : part->lost;
}

static Piece without(const Column *c, const Piece *from, const Part *set) { /* what is left, or more */
    Piece left = *from;
    if (c->levels) {
        left.levels = room(c->cells, 1);
        left.stay = left.change = 0;
        for (int k = 0; k < c->cells; k++) {
            left.levels[k] = from->levels[k] && !set->inside[k];
            *(k == c->home ? &left.stay : &left.change) |= left.levels[k];
        }
        return left;
    }
    int begins = (from->above > c->least ? from->above : c->least) > set->above || from->above == set->above;
    int ends = (from->most < c->most ? from->most : c->most) <= set->most;
    left.stay = from->stay && !lies(c, set);
    left.change = from->change && !(begins && ends);
    if (begins && set->most > left.above) left.above = set->most;
    if (ends && !begins && set->above < left.most) left.most = set->above;
    return left;
}

static int alike(const Column *c, const Piece *a, const Piece *b) {
    if (c->levels) return !memcmp(a->levels, b->levels, c->cells);
    return a->stay == b->stay && a->change == b->change && ((!a->stay && !a->change) || (a->above == b->above && a->most == b->most));
}

static void put_region(Region box) {
    for (int any = 1; any;) { /* what rules forbid because all else of them is true is left out */
        any = 0;
        for (int r = 0; r < q.rule_count; r++) {
            Rule *rule = q.rules + r;
            int free = 0, last = 0;
            for (int i = 0; i < rule->count; i++) {
                Piece left = without(q.columns + rule->parts[i].column, box.pieces + rule->parts[i].column, rule->parts + i);
                if (!left.stay && !left.change) continue;
                if (!free++) last = i;
            }
            if (free > 1) continue;
            int j = rule->parts[last].column;
            Piece left = without(q.columns + j, box.pieces + j, rule->parts + last);
            any |= !alike(q.columns + j, &left, box.pieces + j);
            box.pieces[j] = left;
        }
    }
    more(linear.open, linear.count, linear.space);
    linear.open[linear.count++] = box;
}

static Region region_like(const Region *old) {
    Region box = {room(q.column_count, sizeof(Piece)), old->way, old->sides};
    memcpy(box.pieces, old->pieces, q.column_count * sizeof(Piece));
    return box;
}

static void part_region(Json *what) {
    need(list(what)->count == 2, "a split of two things");
    int j = (int)number(what->items, 0, q.column_count);
    Column *c = q.columns + j;
    Json *at = what->items + 1;
    Region old = linear.open[--linear.count], parts[2];
    Part sets[2] = {{j, 0, NULL, -INFINITY, INFINITY}, {j, 0, NULL, -INFINITY, INFINITY}}; /* what each part lacks */
    if (c->levels) {
        char *mask = mask_of(at);
        sets[0].inside = room(c->cells, 1);
        sets[1].inside = room(c->cells, 1);
        for (int k = 0; k < c->cells; k++) {
            sets[1].inside[k] = in_mask(mask, k);
            sets[0].inside[k] = !sets[1].inside[k];
        }
    } else if (!is(at, "stay")) sets[0].above = sets[1].most = real(at);
    for (int half = 0; half < 2; half++) {
        parts[half] = region_like(&old);
        Piece *its = parts[half].pieces + j;
        if (c->levels || !is(at, "stay")) *its = without(c, its, sets + half);
        else *(half ? &its->stay : &its->change) = 0;
    }
    put_region(parts[1]);
    put_region(parts[0]);
    free(old.pieces);
}

static void say_rates(Json *what, quad *rates, int count) {
    need(list(what)->count == count + 1, "not a rate for each goal");
    quad unit = ldexp(1, -(int)number(what->items + count, 0, 1000));
    for (int k = 0; k < count; k++) rates[k] = large(what->items + k) * unit;
}

/* ------------------------------------------------------------------------------------------ the walk of networks */

/* How a row leaves where its box starts: one column, by a share of scale, to its side (up 1, down -1) or to level side, at most so far. */
typedef struct { int column, side, free; quad start, scale, cap, far; } Direction;
typedef struct { quad least, most, steep, *over; } Unit; /* between which ends what reaches it lies, in grains; over: NULL if its side is known */

#define GRAINS ((quad)((whole)1 << 60)) /* lines are counted in so many of a unit */

static struct { Direction *directions; int count; quad *starts, *prices; Unit *units; } box_of; /* what is known of a box */

static int ends_of(const Column *c, const Piece *piece, quad *low, quad *high) { /* between which numbers a change lies */
    *low = piece->above > c->least ? piece->above : c->least;
    *high = piece->most < c->most ? piece->most : c->most;
    if (c->step != 0 && *low <= *high) {
        quad far = quad_abs(*low) > quad_abs(*high) ? quad_abs(*low) : quad_abs(*high), blur = 2 * c->blur * (quad_abs(c->anchor) + far);
        whole first = ceil_of((*low - blur - c->anchor) / c->step), last = floor_of((*high + blur - c->anchor) / c->step);
        *low = c->anchor + first * c->step - blur;
        *high = c->anchor + last * c->step + blur;
    }
    return *low <= *high;
}

static quad price_at(const Column *c, quad value) {
    quad move = quad_abs(value - c->start);
    return q.none ? 0 : c->fees[0] + move * (c->fees[1] + c->fees[2] * move);
}

static int started(const Region *box) { /* where it starts, and the directions; returns 0 if nobody is there */
    quad spare = q.below, size = q.below;
    box_of.starts = room(q.column_count, sizeof(quad));
    box_of.prices = room(q.column_count, sizeof(quad));
    box_of.count = 0;
    int most = 0;
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        const Piece *piece = box->pieces + j;
        quad low, high, *at = box_of.starts + j, *price = box_of.prices + j;
        int best = -1;
        most += c->levels ? c->cells : 2;
        for (int k = 0; c->levels && k < c->cells; k++)
            if (piece->levels[k] && (best < 0 || (!q.none && c->asked[k] < c->asked[best]) || (k == c->home && (q.none || c->asked[k] == c->asked[best])))) best = k;
        if (c->levels && best < 0) return 0;
        if (c->levels) *at = best, *price = q.none ? 0 : c->asked[best];
        else {
            need(c->known, "a number that is missing, before a network");
            if (piece->stay) *at = c->start, *price = 0;
            else if (piece->change && ends_of(c, piece, &low, &high)) {
                *at = c->start < low ? low : c->start > high ? high : c->start;
                *price = price_at(c, *at);
            } else return 0;
        }
        spare -= *price;
        size += *price;
    }
    spare += size * SLACK;
    if (spare <= 0) return 0;
    box_of.directions = room(most, sizeof(Direction));
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        const Piece *piece = box->pieces + j;
        quad start = box_of.starts[j], price = box_of.prices[j], low = start, high = start;
        for (int k = 0; c->levels && k < c->cells; k++) {
            quad extra = q.none ? 0 : c->asked[k] - price, share = extra == 0 ? 1 : extra / spare;
            if (piece->levels[k] && k != (int)start && (q.none || extra < spare))
                box_of.directions[box_of.count++] = (Direction){j, k, extra == 0, start, share, share, 0};
        }
        if (c->levels) continue;
        if (piece->change && !ends_of(c, piece, &low, &high)) low = high = start;
        for (int side = 1; side > -2; side -= 2) {
            quad far = side > 0 ? high - start : start - low, rate = q.none ? 0 : c->fees[1] + 2 * c->fees[2] * quad_abs(start - c->start);
            if (piece->stay && !q.none) {
                quad other = rate > 0 ? (spare - c->fees[0]) / rate : spare > c->fees[0] ? far : 0;
                far = other < far ? other : far;
                other = c->fees[2] > 0 ? root(spare / c->fees[2]) * (1 + 3 * SLACK) + ldexp(1, -100) : far;
                far = other < far ? other : far;
                rate += far > 0 ? c->fees[0] / far * (1 - SLACK) : 0;
            }
            if (far <= 0) continue;
            quad scale = (rate > 0 ? spare / rate : far) * (1 + SLACK), share = far / scale;
            box_of.directions[box_of.count++] = (Direction){j, side, rate == 0, start, scale, share < 1 ? share : 1, (far < scale ? far : scale) * (1 + SLACK)};
        }
    }
    return 1;
}

static quad along(const Direction *way, int k, quad *size) { /* what all of a direction adds to a sum, of terms of this size */
    Column *c = q.columns + way->column;
    if (!c->levels) return *size = quad_abs(c->slope[k] * way->scale), c->slope[k] * way->side * way->scale;
    quad to = c->adds[way->side][k], from = c->adds[(int)way->start][k];
    *size = (quad_abs(to) + quad_abs(from)) / way->scale;
    return (to - from) / way->scale;
}

static int by_slope(const void *a, const void *b) { quad x = *(const quad *)a, y = *(const quad *)b; return (x < y) - (x > y); }

typedef quad Share[2]; /* what it is worth, and how much of it there is */

static quad most_of(const quad *line, int sign) { /* of a line, or of what is opposite to it: one share may be spent in all */
    quad total = sign * line[0], left = (whole)1 << 40;
    SPACE(quad, freely, q.column_count);
    SPACE(Share, priced, box_of.count);
    int count = 0;
    for (int d = 0; d < box_of.count; d++) {
        Direction *way = box_of.directions + d;
        quad slope = sign * line[1 + d];
        if (slope <= 0) continue;
        if (way->free) { if (slope > freely[way->column]) freely[way->column] = slope; continue; }
        priced[count][0] = slope;
        priced[count++][1] = up(way->cap * ((whole)1 << 40), way->cap * ((whole)1 << 40));
    }
    qsort(priced, count, sizeof *priced, by_slope);
    for (int k = 0; k < count && left > 0; k++) {
        quad part = priced[k][1] < left ? priced[k][1] : left, bought = priced[k][0] * part / ((whole)1 << 40);
        total += up(bought, bought);
        left -= part;
    }
    for (int j = 0; j < q.column_count; j++) total += freely[j];
    return total;
}

static quad passed_up(quad x, quad leak) { return x > 0 ? x : up(x * leak, quad_abs(x)); }

static quad *scaled(const quad *from, quad by, int sign) { /* a line above it times a number (1), or below (-1) */
    quad *line = room(box_of.count + 1, sizeof(quad));
    for (int d = 0; d <= box_of.count; d++) line[d] = by == 1 ? from[d] : by == 0 ? 0 : sign * up(sign * from[d] * by, quad_abs(from[d]));
    return line;
}

static int not_above(const quad *a, const quad *b) { /* number by number */
    for (int d = 0; d <= box_of.count; d++) if (a[d] != b[d]) return a[d] < b[d];
    return 1;
}

/* What a unit passes on lies between these lines, and ends; returns 0 if what reaches it cannot be. */
static int look_at(Unit *unit, quad leak, quad **low, quad **high, quad *first, quad *last, int side) {
    quad least = -most_of(*low, -1), most = most_of(*high, 1);
    least = *first > least ? *first : least;
    most = *last < most ? *last : most;
    if (side > 0 && least < 0) least = 0;
    if (side < 0 && most > 0) most = 0;
    if (least > most) return 0;
    *unit = (Unit){least, most, 0, NULL};
    *first = least < 0 ? -up(-least * leak, -least) : least;
    *last = most < 0 ? up(most * leak, -most) : most;
    quad slope = least >= 0 ? 1 : leak, *above;
    if (least < 0 && most > 0 && leak < 1) {
        unit->steep = up((most - leak * least) / (most - least) * (1 << 20), 0) / (1 << 20);
        above = room(box_of.count + 1, sizeof(quad));
        unit->over = room(box_of.count + 1, sizeof(quad));
        quad begins = (*high)[0], start = passed_up(begins, leak);
        for (int d = 0; d <= box_of.count; d++) {
            quad x = (*high)[d] - (d ? 0 : least);
            above[d] = up(x * unit->steep, quad_abs(x));
            if (d) unit->over[d] = box_of.directions[d - 1].free ? (x > 0 ? x : 0) : passed_up(begins + x, leak) - start;
        }
        above[0] += up(leak * least, (most - least));
        unit->over[0] = start;
        slope = most > -least ? 1 : leak;
        if (not_above(unit->over, above)) { free(above); above = scaled(unit->over, 1, 1); }
    } else {
        unit->steep = slope;
        above = scaled(*high, slope, 1);
    }
    quad *below = scaled(*low, slope, -1);
    free(*low);
    free(*high);
    *low = below;
    *high = above;
    return 1;
}

/* The lines above the sums of a layer, or what is opposite to those below (-1), if what units pass on lies between lines. */
static quad *lines_of(const Layer *layer, int r, quad **low, quad **high, int count, int sign) {
    quad *line = room(count, sizeof(quad));
    for (int d = 0; d < count; d++) {
        quad total = 0, size = 0;
        for (int k = 0; k < layer->units; k++) {
            quad weight = sign * layer->weight[r][k], x = weight * (weight > 0 ? high : low)[k][d];
            total += x;
            size += quad_abs(x);
        }
        line[d] = up(total, size);
        if (!d) line[d] += up(sign * layer->base[r] * GRAINS, 0);
    }
    return line;
}

static int looked_at(const Region *box) { /* the units of a box; returns 0 if nobody is there */
    if (!started(box)) return 0;
    int lines = box_of.count + 1, n = 0;
    SPACE(quad *, low, model.widest);
    SPACE(quad *, high, model.widest);
    SPACE(quad, first, model.widest);
    SPACE(quad, last, model.widest);
    SPACE(quad *, next_low, model.widest);
    SPACE(quad *, next_high, model.widest);
    SPACE(quad, firsts, model.widest);
    SPACE(quad, lasts, model.widest);
    SPACE(quad *, begins, model.widest);
    SPACE(quad *, stops, model.widest);
    box_of.units = room(model.units, sizeof(Unit));
    for (int k = 1; k < model.inputs; k++) {
        low[k - 1] = room(lines, sizeof(quad));
        high[k - 1] = room(lines, sizeof(quad));
        quad at = model.starts[k], size = q.begun[k];
        for (int j = 0; j < q.column_count; j++) {
            Column *c = q.columns + j;
            quad value = c->levels ? c->adds[(int)box_of.starts[j]][k] : c->slope[k] * box_of.starts[j] + c->adds[0][k];
            at += value;
            size += c->levels ? quad_abs(value) : quad_abs(c->slope[k] * box_of.starts[j]) + quad_abs(c->adds[0][k]);
        }
        for (int d = 0; d < lines; d++) {
            quad its = size, x = d ? along(box_of.directions + d - 1, k, &its) : at;
            high[k - 1][d] = up(x * GRAINS, its * GRAINS);
            low[k - 1][d] = -up(-x * GRAINS, its * GRAINS);
        }
        first[k - 1] = -INFINITY;
        last[k - 1] = INFINITY;
    }
    for (int l = 0; l < model.layer_count; l++) {
        Layer *layer = model.layers + l;
        for (int k = 0; k < layer->units; k++, n++) {
            if (!look_at(box_of.units + n, layer->leak[k], low + k, high + k, first + k, last + k, box->sides[n])) return 0;
            begins[k] = first + k;
            stops[k] = last + k;
        }
        for (int r = 0; r < layer->sums && l < model.layer_count - 1; r++) {
            next_high[r] = lines_of(layer, r, low, high, lines, 1);
            next_low[r] = lines_of(layer, r, low, high, lines, -1);
            for (int d = 0; d < lines; d++) next_low[r][d] = -next_low[r][d];
            quad *end = lines_of(layer, r, begins, stops, 1, 1), *begin = lines_of(layer, r, begins, stops, 1, -1);
            lasts[r] = *end;
            firsts[r] = -*begin;
            free(end);
            free(begin);
        }
        for (int k = 0; k < layer->units; k++) { free(low[k]); free(high[k]); }
        if (l == model.layer_count - 1) break;
        memcpy(low, next_low, layer->sums * sizeof *low);
        memcpy(high, next_high, layer->sums * sizeof *high);
        memcpy(first, firsts, layer->sums * sizeof *first);
        memcpy(last, lasts, layer->sums * sizeof *last);
    }
    return 1;
}

/* `least_of` over the start of a piece and its directions, of which each share is worth something, too. */
static void least_tilted(int j, const Piece *piece, const quad *worth, const quad *tilt, Least found[2]) {
    Column *c = q.columns + j;
    found[0] = found[1] = (Least){0, 0};
    quad start = box_of.starts[j], steep = 0, size = 0, slope = c->levels ? 0 : gain(c->slope, worth, &steep), shift = c->levels ? 0 : gain(c->adds[0], worth, &size);
    if (!c->levels && piece->stay) found[0] = (Least){-slope * c->start - shift - (steep * quad_abs((quad)c->start) + size) * SLACK, 1};
    if (!c->levels && piece->change) {
        quad stays = change_in(c, start, start, -slope, steep, q.none);
        if (stays < INFINITY) found[1] = (Least){stays - shift - size * SLACK, 1};
    }
    for (int d = -1; d < box_of.count; d++) {
        Direction *way = box_of.directions + d;
        if (d < 0 ? !c->levels : way->column != j) continue;
        Least *its = found + 1;
        quad cost;
        if (c->levels) {
            int k = d < 0 ? (int)start : way->side;
            quad terms = q.none ? 0 : c->asked[k], extra = d < 0 ? 0 : way->scale * tilt[d];
            cost = terms - gain(c->adds[k], worth, &terms) - extra - (terms + quad_abs(extra)) * SLACK;
            its = found + (k != c->home);
        } else {
            quad far = start + way->side * way->far, tilts = way->side * tilt[d] / way->scale;
            quad best = change_in(c, far < start ? far : start, far < start ? start : far, -slope - tilts, steep + quad_abs(tilts), q.none);
            if (best == (quad)INFINITY) continue;
            cost = best + tilts * start - shift - (quad_abs(best) + quad_abs(tilts * start) + size) * SLACK;
        }
        if (!its->there || cost < its->cost) *its = (Least){cost, 1};
    }
}

static int bounded_network(const Region *box, quad *total) { /* at least so much do rows of a box cost; returns 0 if nobody is there */
    if (!looked_at(box)) return 0;
    int n = model.units, lines = box_of.count + 1;
    quad size = 0;
    SPACE(quad, worth, model.widest + q.limit_count);
    SPACE(quad, back, model.widest + q.limit_count);
    SPACE(quad, tilt, lines);
    SPACE(quad, tilts, lines);
    SPACE(Pair_of_least, each, q.column_count);
    quad begun = rated(box, worth, &size);
    for (int l = model.layer_count - 1; l >= 0; l--) {
        Layer *layer = model.layers + l;
        n -= layer->units;
        for (int r = 0; r < layer->sums && l < model.layer_count - 1; r++) {
            begun -= worth[r + 1] * layer->base[r];
            size += quad_abs(worth[r + 1] * layer->base[r]);
        }
        for (int k = 0; k < layer->units; k++) {
            Unit *unit = box_of.units + n + k;
            quad v = 0, terms = 0, hold = linear.holds[n + k], high = linear.high[n + k], leak = layer->leak[k];
            quad far = (quad_abs(unit->least) + quad_abs(unit->most)) / GRAINS;
            for (int r = 0; r < layer->sums; r++) {
                v += layer->weight[r][k] * worth[r + 1];
                terms += quad_abs(layer->weight[r][k] * worth[r + 1]);
            }
            size += (terms + hold) * far; /* what rounding leaves open of its worth, too */
            if (!unit->over) { back[k + 1] = v * unit->steep + box->sides[n + k] * hold; continue; }
            quad above = hold + (v > 0 ? v : 0), below = hold + (v < 0 ? -v : 0), drop = above * high * (leak - unit->steep) * unit->least / GRAINS;
            back[k + 1] = above * high * unit->steep - below * (leak + (1 - leak) * linear.low[n + k]);
            begun -= drop;
            size += quad_abs(drop);
            for (int d = 0; d < lines; d++) {
                tilt[d] += above * (1 - high) * unit->over[d] / GRAINS;
                tilts[d] += above * (1 - high) * quad_abs(unit->over[d]) / GRAINS;
            }
        }
        memcpy(worth, back, (layer->units + 1) * sizeof(quad));
        worth[0] = 0;
    }
    begun -= tilt[0];
    size += tilts[0];
    for (int d = 1; d < lines; d++) tilt[d] += tilts[d] * SLACK;
    for (int k = 1; k < model.inputs; k++) {
        begun -= worth[k] * model.starts[k];
        size += quad_abs(worth[k]) * q.begun[k];
    }
    for (int e = 0; e < q.limit_count; e++) worth[model.inputs + e] = linear.rates[linear.goals + e];
    for (int j = 0; j < q.column_count; j++) least_tilted(j, box->pieces + j, worth, tilt + 1, each[j]);
    for (int k = 0; k < model.units; k++) free(box_of.units[k].over);
    if (!together(each, total)) return 0;
    *total += begun - (size + quad_abs(*total)) * SLACK;
    return 1;
}

static void say_units(Json *what, int first, int count, int shift) { /* of some units, each by the gap from the one before: their lines, or holds */
    whole at = 0;
    for (int i = first; i < list(what)->count; i++) {
        Json *told = list(what->items + i);
        need(told->count == count, "other numbers of a unit");
        at += number(told->items, 0, ROOM);
        need(at < model.units, "no such unit");
        if (count == 2) { linear.holds[at] = large(told->items + 1) * ldexp(1, -shift); continue; }
        linear.low[at] = (quad)number(told->items + 1, 0, (1 << 30) + 1) / (1 << 30);
        linear.high[at] = (quad)number(told->items + 2, 0, (1 << 30) + 1) / (1 << 30);
    }
}

static void part_unit(int n) { /* first where what reaches it is at least 0, then at most */
    Region old = linear.open[linear.count - 1];
    need(!old.sides[n], "a unit that is on one side already");
    linear.count--;
    for (int side = -1; side < 2; side += 2) {
        Region box = region_like(&old);
        box.sides = room(model.units, sizeof(int));
        memcpy(box.sides, old.sides, model.units * sizeof(int));
        box.sides[n] = side;
        more(linear.open, linear.count, linear.space);
        linear.open[linear.count++] = box;
    }
}

static void linear_step(const char *kind, Json *what) {
    quad total = 0;
    if (model.layer_count && !strcmp(kind, "lines")) { say_units(what, 0, 3, 0); return; }
    if (model.layer_count && !strcmp(kind, "holds")) {
        need(list(what)->count > 0, "no shift of holds");
        say_units(what, 1, 2, (int)number(what->items, 0, 1000));
        return;
    }
    if (model.layer_count && !strcmp(kind, "unit")) { part_unit((int)number(what, 0, model.units)); return; }
    if (!strcmp(kind, "rate")) say_rates(what, linear.rates, linear.goals + q.limit_count + curved());
    else if (!strcmp(kind, "reach") && curved()) say_rates(what, linear.reach, linear.goals);
    else if (!strcmp(kind, "share")) say_shares(what);
    else if (!strcmp(kind, "tangent")) say_tangent(what);
    else if (!strcmp(kind, "split")) part_region(what);
    else {
        need(!strcmp(kind, "end") && is(what, "dual"), "an unknown step");
        Region *box = linear.open + --linear.count;
        need(!(model.layer_count ? bounded_network : bounded)(box, &total) || total >= q.below, "the rate does not prove the claim");
    }
}

static void begin_linear(void) {
    memset(&linear, 0, sizeof linear);
    q.grain = 1;
    linear.goals = curved() ? curve_count() : q.width;
    linear.rates = room(linear.goals + q.limit_count + 1, sizeof(quad));
    linear.reach = room(linear.goals, sizeof(quad));
    linear.holds = room(model.units, sizeof(quad));
    linear.low = room(model.units, sizeof(quad));
    linear.high = room(model.units, sizeof(quad));
    for (int n = 0; n < model.units; n++) linear.low[n] = linear.high[n] = (quad)0.5;
    for (int way = q.ways - 1; way >= 0; way--) { /* the first one is worked on first */
        Region all = {room(q.column_count, sizeof(Piece)), way, room(model.units, sizeof(int))};
        for (int j = 0; j < q.column_count; j++) {
            Column *c = q.columns + j;
            all.pieces[j] = (Piece){c->levels ? room(c->cells, 1) : NULL, -INFINITY, INFINITY, c->stay, 1};
            for (int k = 0; c->levels && k < c->cells; k++) all.pieces[j].levels[k] = c->price[k] != FAR;
        }
        put_region(all);
    }
}

static void step(Json *told) {
    need(told->kind == '{' && told->count == 1, "a step says one thing");
    Json *what = told->items;
    char *kind = told->keys[0];
    if (model.features) { linear_step(kind, what); return; }
    Box *box = walk.open + walk.count - 1;
    if (!strcmp(kind, "split")) split(what);
    else if (!strcmp(kind, "say")) {
        need(list(what)->count % 2 == 1, "a gap without a message");
        int shift = (int)number(what->items, 0, 61);
        whole at = 0;
        for (int i = 1; i < what->count; i += 2) {
            at += number(what->items + i, 0, (whole)1 << 40);
            need(at < q.block_count, "no such block");
            walk.message[at] = number(what->items + i + 1, 0, ROOM >> shift) << shift;
        }
    } else if (!strcmp(kind, "rate")) {
        need(list(what)->count == q.width + 1, "not a rate for each goal");
        for (int g = 0; g < q.width; g++) walk.rates[g] = number(what->items + g, 0, q.width > 1 ? ROOM >> 7 : ROOM);
        walk.shift = (int)number(what->items + q.width, 0, 1000);
        if (model.slope_count) walk.priced = -1;
    } else if (!strcmp(kind, "toll")) {
        need(q.counted, "a toll without a limit");
        walk.toll = number(what, 0, ROOM);
    } else if (!strcmp(kind, "tax")) say_taxes(what);
    else if (!strcmp(kind, "share")) say_shares(what);
    else if (!strcmp(kind, "tangent")) say_tangent(what);
    else if (!strcmp(kind, "drop")) {
        if (box->nobody) return;
        wide spare = q.bound - bound_of(box);
        for (int j = 0; j < q.column_count; j++)
            dropped(box->alive, walk.cell, q.columns[j].first, q.columns[j].first + q.columns[j].cells, spare);
        for (int t = 0; t < q.tree_count; t++) dropped(box->leaf, walk.cost, q.trees[t].leaf, q.trees[t].leaf_end, spare);
        narrowed(box);
    } else {
        need(!strcmp(kind, "end"), "an unknown step");
        char *why_done = text_of(what);
        if (!box->nobody && !strcmp(why_done, "score")) {
            int missed = 0;
            quad shares = 0;
            for (int g = box->way * q.width; g < (box->way + 1) * q.width; g++) {
                wide most = added_up(box, g, 1);
                missed |= !curved() && most < q.goals[g].goal;
                if (curved() && g < curve_count()) shares += adds(q.curves + g, ((quad)most - q.goals[g].goal) * q.grain, 1);
            }
            missed |= curved() && shares < q.mean;
            need(missed, "the best leaves of the box reach every goal");
        } else if (!box->nobody) {
            need(!strcmp(why_done, "dual"), "an end that does not hold");
            need(bound_of(box) >= q.bound, "the messages do not prove the claim");
        }
        free(box->alive);
        free(box->leaf);
        walk.count--;
    }
}

/* ------------------------------------------------------------------------------------------------------- a proof */

static void pass_on(const Layer *layer, quad *sums) { /* in place */
    SPACE(quad, passed, model.widest);
    for (int k = 0; k < layer->units; k++) passed[k] = sums[k + 1] > 0 ? sums[k + 1] : layer->leak[k] * sums[k + 1];
    for (int r = 0; r < layer->sums; r++) {
        sums[r + 1] = layer->base[r];
        for (int k = 0; k < layer->units; k++) sums[r + 1] += layer->weight[r][k] * passed[k];
    }
}

static void add_up(Json *inputs, quad *totals) { /* the sums of a row of features */
    SPACE(quad, sizes, model.widest + model.sums);
    SPACE(quad, sums, model.widest);
    for (int k = 0; k < model.sums; k++) totals[k] = model.base[k];
    for (int k = 0; k < model.inputs; k++) sums[k] = model.starts[k];
    need(!model.features || inputs->count >= model.features, "a row that is too short");
    for (int f = 0; f < model.features; f++) {
        double x = input(inputs->items + f);
        need(!isnan(x), "a missing value before weights");
        for (int k = 0; k < model.inputs; k++) {
            sums[k] += model.weights[f][k] * x;
            sizes[k] += quad_abs(model.weights[f][k] * x);
        }
    }
    if (model.features) {
        memset(model.doubts, 0, model.widest * sizeof(quad));
        doubted(sizes, model.doubts);
        for (int l = 0; l < model.layer_count; l++) pass_on(model.layers + l, sums);
        memcpy(totals, sums, model.sums * sizeof(quad));
    }
    for (int t = 0; t < model.count; t++) {
        Node *nodes = model.trees[t].nodes, *node = nodes;
        while (node->left >= 0) {
            need(node->feature < inputs->count, "a row that is too short");
            node = nodes + (to_left(node, input(inputs->items + node->feature)) ? node->left : node->right);
        }
        for (int k = 0; k < model.sums; k++) totals[k] += node->adds[k];
    }
    SPACE(int, terms, model.sums);
    need(!model.slope_count || inputs->count >= model.slope_count, "a row that is too short");
    for (int f = 0; f < model.slope_count; f++) {
        double x = input(inputs->items + f);
        for (int k = 0; k < model.sums && !isnan(x); k++) {
            quad term = model.slopes[f][k] * x;
            totals[k] += term;
            sizes[k] += quad_abs(term);
            terms[k] += term != 0;
        }
    }
    if (model.slope_count) doubted_trees(sizes, terms, model.doubts);
}

static int add_up_to(const quad *totals, quad x) { /* whether curves of sums may, within all doubts */
    quad least = model.end - model.end_off, most = model.end + model.end_off;
    for (int k = 1; k < model.sums; k++) {
        const Curve *c = model.curves + k - 1;
        int way = c->weight > 0 ? 1 : -1;
        quad doubt = way * (model.doubts[k] + (quad)1e-28);
        least += adds(c, totals[k] - doubt, -way);
        most += adds(c, totals[k] + doubt, way);
    }
    return least <= x && x <= most;
}

static void likely(const Asked *its, const quad *totals, Json *said) { /* how much more likely each class is than the first */
    need((its->kind == LOGISTIC || its->kind == LARGEST || its->kind == MEAN) && list(said)->count == its->classes, "not a probability for each class");
    quad off = (its->kind == MEAN ? 14 + model.sums : 16) * (quad)its->step, first = real(said->items), spare = (quad)1e-28;
    quad all = 0;
    for (int k = 0; k < its->classes; k++) {
        quad p = real(said->items + k);
        need(p >= 0, "no probabilities");
        all += p;
    }
    need(all <= 1 + its->classes * off, "no probabilities");
    if (its->kind == MEAN) {
        need(add_up_to(totals, model.weight * real(said->items + 1)), "a recorded row has another probability");
        return;
    }
    for (int k = 1; k < its->classes; k++) {
        int sum = sum_of(its, k), no = sum_of(its, 0);
        quad p = real(said->items + k), apart = totals[sum] - totals[no], doubt = model.doubts[sum] + model.doubts[no] + spare;
        need(p <= off || apart >= quad_log((p - off) / (first + off)) - doubt, "a recorded row has another probability");
        need(first <= off || apart <= quad_log((p + off) / (first - off)) + doubt, "a recorded row has another probability");
    }
}

static void come_to(const quad *totals, Json *said) { /* a leaf that says just this; sums in doubt go both ways */
    int any = 0;
    for (int p = 0; p < model.path_count; p++) {
        Path *leaf = model.paths + p;
        int all = length(said) == model.asked->classes;
        for (int k = 0; k < leaf->steps; k++) {
            int a = leaf->plus[k], b = leaf->less[k];
            quad spare = (quad_abs(totals[a]) + quad_abs(totals[b])) * (quad)1e-30;
            all &= totals[a] + model.doubts[a] + spare >= totals[b] - model.doubts[b];
        }
        for (int k = 0; k < model.asked->classes && all; k++) all = real(item(said, k)) == leaf->says[k];
        any |= all;
    }
    need(any, "a recorded row comes to another leaf");
}

static int reached(const Asked *its, const quad *totals, int way, const char *what, Json *of, Json *least, Json *most) { /* in one of its ways: perhaps, or surely (-1) */
    memset(&q, 0, sizeof q);
    q.way = way;
    q.doubts = model.doubts;
    read_goals(its, what, of, least, most);
    int any = 0;
    for (int w = 0; w < q.ways; w++) {
        int all = 1;
        quad mean = 0;
        for (int k = 0; k < (curved() ? curve_count() : q.steps ? q.steps[w] : q.width); k++) {
            Goal *goal = q.goals + w * q.width + k;
            quad begun = model.base[goal->plus] - model.base[goal->less], spare = totals[goal->plus] - totals[goal->less] - begun - goal->least;
            if (curved()) mean += adds(q.curves + k, spare, way);
            else all &= spare > 0 || (spare == 0 && !goal->strict && (way > 0 || goal->sure));
        }
        any |= all && (!curved() || (way > 0 ? mean >= q.mean : mean > q.mean));
    }
    return any;
}

static void said_of(const Asked *its, const quad *totals, Json *said) { /* what a model said of a row: a class, probabilities or scores */
    Json *class = said->kind == '{' ? maybe(said, "class") : NULL, *shares = said->kind == '{' && !class ? part(said, "probabilities") : NULL;
    if (class) { need(reached(its, totals, 1, "class", class, NULL, NULL), "a recorded row has another class"); return; }
    if (its->kind == LEAVES) { come_to(totals, shares ? shares : said); return; }
    if (shares) { likely(its, totals, shares); return; }
    int count = length(said);
    need(count == (its->classes > 2 ? its->classes : 1), "not a score for each class");
    if (its->kind == STACK) need(add_up_to(totals, real(item(said, 0))), "a recorded row has another score");
    for (int k = 0; k < count && its->kind != STACK; k++) {
        int sum = its->at + its->sums - count + 1 + k;
        quad off = quad_abs(totals[sum] / its->over - real(item(said, k)));
        need(off <= model.doubts[sum] / its->over + ldexp(1, -69), "a recorded row has another score");
    }
}

static void may_have(const quad *totals, Json *wanted, Json *met) { /* if a row has what is wanted, sums reach it perhaps, else not surely */
    Json *of = list(part(wanted, "of")), *least = maybe(wanted, "at least"), *most = maybe(wanted, "at most");
    need(of->count == 2 && model.asked_count == 1, "no target of one model");
    int both = least && most, all = 1, said = truth(met);
    for (int end = 0; end <= both; end++)
        all &= reached(model.asked, totals, said ? 1 : -1, text_of(of->items), of->items + 1, both && end ? NULL : least, both && !end ? NULL : most);
    need(all == said, "a recorded row gets something else");
}

static void recorded(Json *rows, Json *wanted) {
    quad *totals = room(model.sums, sizeof(quad));
    for (int r = 0; r < list(rows)->count; r++) {
        need(list(rows->items + r)->count == 2, "no recorded row");
        Json *said = rows->items[r].items + 1;
        add_up(list(rows->items[r].items), totals);
        Json *met = said->kind == '{' ? maybe(said, "met") : NULL;
        if (met) { may_have(totals, wanted, met); continue; }
        Json *each = model.asked_count > 1 ? list(part(said, "each")) : NULL;
        need(!each || each->count == model.asked_count, "not what each model said");
        for (int i = 0; i < model.asked_count; i++) said_of(model.asked + i, totals, each ? each->items + i : said);
    }
}

static Text beside(const char *path, Json *name, Json *hash) {
    char full[4096], found[65];
    char *file = text_of(name);
    need(*file && !strchr(file, '/') && strcmp(file, "..") && strcmp(file, "."), "no name of a file");
    const char *slash = strrchr(path, '/');
    snprintf(full, sizeof full, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, file);
    Text text = opened(full);
    sha256(text.text, text.size, found);
    if (!is(hash, found)) wrong("another one, or changed:", file);
    return text;
}

static int walked(char **line, int from, int to) { /* the walk for a question; returns which line comes after it */
    memset(&walk, 0, sizeof walk);
    walk.message = room(q.block_count, sizeof(whole));
    walk.paid = room(q.block_count, sizeof(whole));
    walk.least = room(q.block_count, sizeof(whole));
    walk.home = room(q.block_count, 1);
    walk.living = room(q.block_count, 1);
    walk.cell = room(q.cells, sizeof(whole));
    walk.cost = room(q.leaf_count, sizeof(whole));
    walk.rates = room(q.width, sizeof(whole));
    walk.price = room(q.cells, sizeof(whole));
    walk.tax = room(q.limit_count, sizeof(double));
    walk.priced = -1;
    linear.count = 0;
    if (model.features) begin_linear();
    for (int way = q.ways - 1; way >= 0 && !model.features; way--) { /* the first one is worked on first */
        Box all = {room(q.cells, 1), room(q.leaf_count, 1), 0, way};
        memcpy(all.alive, q.alive, q.cells);
        memset(all.leaf, 1, q.leaf_count);
        put(all);
    }
    for (; from < to && walk.count + linear.count > 0; from++) {
        Json told = parsed(line[from], line[from + 1] - line[from] - 1);
        step(&told);
    }
    need(walk.count + linear.count == 0, "the proof ends before all boxes are done");
    return from;
}

static void check(const char *path) {
    Text text = opened(path);
    while (text.size && text.text[text.size - 1] == '\n') text.size--;
    int lines = 1;
    for (size_t i = 0; i < text.size; i++) lines += text.text[i] == '\n';
    need(lines > 1, "the proof has no end");
    char **line = room(lines + 1, sizeof(char *));
    line[0] = text.text;
    for (size_t i = 0, n = 0; i < text.size; i++) if (text.text[i] == '\n') line[++n] = text.text + i + 1;
    line[lines] = text.text + text.size + 1;
    Json own = parsed(line[0], line[1] - line[0] - 1), *names = list(part(&own, "question"));
    Json last = parsed(line[lines - 1], line[lines] - line[lines - 1] - 1);
    char hash[65];
    sha256(text.text, line[lines - 1] - 1 - text.text, hash);
    need(last.count == 2 && number(part(&last, "steps"), 0, FAR) == lines - 2 && is(part(&last, "sha256"), hash), "its footer does not fit");
    need(names->count == 2, "no name of a question");
    Text question = beside(path, names->items, names->items + 1);
    Json shared = parsed(question.text, question.size), *about = part(&shared, "model");
    read_model(text_of(part(about, "kind")), beside(path, part(about, "file"), part(about, "sha256")));
    Json *wanted = part(&shared, "wanted"), *either = maybe(wanted, "either");
    int parts = either ? list(either)->count : 1, at = 1, read = lines - 1;
    need(parts > 0 && parts <= 1000, "no target, or too many");
    recorded(part(&shared, "recorded"), wanted);
    alone = model;
    for (int k = 0; k < parts; k++) {
        model = alone;
        Json *its = either ? list(either->items + k) : NULL;
        need(!its || its->count == 2, "no target, or no cost of it");
        read_question(&shared, &own, its ? its->items + 1 : wanted, its ? real(its->items) : 0);
        if (!q.done) at = walked(line, at, read);
    }
    need(at == read, "a step after the end");
}

int main(int count, char **paths) {
    if (count < 2) {
        fprintf(stderr, "butfor_check PROOF...: checks each proof, with its question and model beside it\n");
        return 2;
    }
    volatile int failed = 0;
    for (volatile int i = 1; i < count; i++) {
        if (setjmp(out)) {
            printf("%s: NOT VERIFIED: %s\n", paths[i], why);
            failed++;
            continue;
        }
        check(paths[i]);
        printf("%s: VERIFIED: the bound, by the second checker\n", paths[i]);
    }
    return failed > 100 ? 100 : failed;
}
