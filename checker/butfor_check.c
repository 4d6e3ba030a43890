/* A second checker of proofs about sums of trees, after docs/reference/proof-format.md, to be compared with the first.

       cc -O2 -o butfor_check butfor_check.c -lm && ./butfor_check PROOF...

   It counts in whole numbers of 64 bits, and adds them up in 128. Where the page asks for fractions it computes with 113 bits and
   rounds so that the claim gets harder. It refuses what it has no room for: larger messages, grids of larger fractions, linear models.
   It checks the bound, and not the answer. It says VERIFIED, or why not, and returns how many proofs are not verified. */

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;
typedef __int128 wide;
typedef int64_t whole;

#define ROOM ((whole)1 << 61) /* messages, rates and tolls are smaller */
#define FAR ((whole)1 << 62)  /* in place of what is not there */

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

static void blank(void) { while (at_text < end_text && strchr(" \t\r\n", *at_text)) at_text++; }

static char *said(void) { /* a text, between quotes */
    need(at_text < end_text && *at_text == '"', "no JSON");
    char *first = ++at_text, *to = first;
    while (at_text < end_text && *at_text != '"') {
        if (*at_text == '\\') {
            at_text++;
            if (*at_text == 'u') { *to++ = '?'; at_text += 5; continue; } /* names are printed nowhere */
            *to++ = *at_text == 'n' ? '\n' : *at_text == 't' ? '\t' : *at_text;
            at_text++;
            continue;
        }
        *to++ = *at_text++;
    }
    need(at_text < end_text, "a text without an end");
    at_text++;
    *to = 0;
    return first;
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
    if (found.kind == '0') need(strspn(found.text, "0123456789+-.eE") == size, "no number");
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

static double real(Json *of) { /* a hexadecimal float, or a whole number */
    if (of->kind == '0') return (double)number(of, -((whole)1 << 53) + 1, (whole)1 << 53);
    char *text = text_of(of), *end;
    need(strlen(text) < 40 && !strncmp(text + (*text == '-'), "0x", 2), "no hexadecimal number");
    double x = strtod(text, &end);
    need(!*end && fabs(x) < 1e300, "no finite number");
    return x;
}

/* ------------------------------------------------------------------------------------------------------ models */

/* value <= cut goes to the left, or a whole number in the set does, and a missing value (NaN) if lost is 1; -1 if that is not said.
   A leaf has left < 0. What it adds to each sum is twice as exact as a double; its scores count towards each goal of each way. */
typedef struct { int feature, left, right, lost; double cut; unsigned char *set; int size; quad *adds; whole *score; } Node;
typedef struct { Node *nodes; int count; } Tree;
enum { LOGISTIC, SHARES, VALUE, LARGEST, SCORE, MEAN };

typedef struct { quad weight, slope, shift, off; int straight, bent, turned; } Curve;
/* What a mean makes of a sum x: weight times share(x), or x, or share(slope share(x) + shift); turned: what the other class gets, of -x. */

/* Nothing is added to the first sum. One besides speaks for class 1; of several, each is that of a class, from first on. */
static struct { Tree *trees; int count, kind, single, alone, votes, arrays, mean, sums, first, classes; quad *base, *doubts, *off, extra, weight; double step; Curve *curves; } model;

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
static quad adds(const Curve *c, quad x, int side) { /* what a sum adds to the mean */
    quad spare = side * (quad)1e-28;
    return c->weight * (c->straight ? x + c->turned + spare * (1 + quad_abs(x)) : share(c->bent ? line_in(c, x, side) : x) + spare);
}

static void begin(int kind, int sums) { /* what is made of the sums, and how many there are */
    need(kind == MEAN || (kind == LARGEST || kind == SHARES ? sums > 1 : sums == 1), "another number of sums");
    need(sums > 0, "no sum");
    need(sums < 100, "more classes than this checker counts");
    model.kind = kind;
    model.sums = sums + 1;
    model.first = sums > 1 && kind != MEAN;
    model.classes = kind == MEAN ? 2 : model.sums - model.first;
    model.base = room(model.sums, sizeof(quad));
    model.doubts = room(model.sums, sizeof(quad));
    model.off = room(model.sums, sizeof(quad)); /* what a sum may be off by besides */
    if (kind == LARGEST) model.extra = 8 * (quad)model.step;
}

static quad *leaf(quad value, int which) { /* what a leaf adds, to one of the sums */
    quad *adds = room(model.sums, sizeof(quad));
    adds[1 + which] = value;
    return adds;
}

static void grown(Tree *tree) { /* children come after their parent, so every walk ends */
    need(tree->count > 0, "a tree without nodes");
    for (int i = 0; i < tree->count; i++) {
        Node *n = tree->nodes + i;
        if (n->left < 0) continue;
        need(n->feature >= 0 && n->feature < FEATURES, "a feature out of range");
        need(n->left > i && n->left < tree->count && n->right > i && n->right < tree->count, "a child before its parent");
    }
}

static float single(Json *of) { /* the decimal is rounded once */
    need(of->kind == '0' && strlen(of->text) < 60, "no number");
    float x = strtof(of->text, NULL);
    need(isfinite(x), "a number that float32 does not hold");
    return x;
}

static double single_below(double x) { /* the largest float32 that is not above it */
    float near = (float)x;
    need(isfinite(near), "a number that float32 does not hold");
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
    int sums = classes && atoi(text_of(classes)) > 1 ? atoi(text_of(classes)) : 1;
    need(!targets || atoi(text_of(targets)) < 2, "more scores than classes");
    begin(several ? LARGEST : strcmp(objective, "binary:logistic") ? VALUE : LOGISTIC, sums);
    char *score = text_of(part(about, "base_score"));
    Json given = parsed(score, strlen(score));
    need(given.kind != '[' || given.count == sums, "more scores than classes");
    for (int k = 0; k < sums; k++) model.base[k + 1] = single(given.kind == '[' ? given.items + k : &given);
    Json *trees = list(part(part(booster, "model"), "trees")), *which_class = list(part(part(booster, "model"), "tree_info"));
    need(which_class->count == trees->count, "not every tree has a class");
    Json *weights = maybe(part(booster, "model"), "weight_drop");
    for (int t = 0; weights && t < list(weights)->count; t++) need(single(weights->items + t) == 1, "trees with weights");
    model.trees = room(model.count = trees->count, sizeof(Tree));
    for (int t = 0; t < trees->count; t++) {
        int of = (int)number(which_class->items + t, 0, sums);
        need(atoi(text_of(part(part(trees->items + t, "tree_param"), "size_leaf_vector"))) < 2, "leaves of several numbers");
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
            Node *node = nodes + number(which->items + k, 0, n);
            whole first = number(from->items + k, 0, categories->count + 1), size = number(sizes->items + k, 0, categories->count + 1 - first);
            int other = node->left;
            node->left = node->right;
            node->right = other;
            node->lost = !node->lost;
            node->set = room(node->size = 1 << 16, 1);
            for (whole c = first; c < first + size; c++) node->set[number(categories->items + c, 0, 1 << 16)] = 1;
        }
        for (int i = 0; i < n; i++)
            need(nodes[i].left < 0 || (number(kind->items + i, 0, 2) == 1) == (nodes[i].set != NULL), "a set that is missing");
        model.trees[t] = (Tree){nodes, n};
    }
    if (model.kind == LOGISTIC) {
        quad p = model.base[1];
        need(p > 0 && p < 1, "the base score is no probability");
        model.base[1] = logit(p);
        model.extra = 4 * (quad)model.step * (quad_abs(model.base[1]) + 1 + 1 / (1 - p)) + (quad)1e-28;
    }
}

static int words(char *line, char **out_words, int most) {
    int n = 0;
    for (char *save, *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        need(n < most, "a list that is too long");
        out_words[n++] = word;
    }
    return n;
}

static void read_lightgbm(Text data) {
    model.step = ldexp(1, -53);
    static char *w[5][1 << 17];
    int head = 1, trees = 0, open = 0, counts[8] = {0}, cats = 0, bits = 0, sums = 0, each = 0;
    char *objective = "", several[60] = "";
    static char *starts[1 << 17], *masks[1 << 17];
    for (char *at = data.text; (at = strstr(at, "\nTree=")); at++) trees++;
    model.trees = room(trees, sizeof(Tree));
    char *next = data.text;
    while (next) {
        char *line = next, *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        if (!strncmp(line, "Tree=", 5) || !strncmp(line, "end of trees", 12)) {
            if (open) { /* the tree before is complete */
                int leaves = counts[0], inner = leaves - 1;
                need(leaves > 0, "a tree without leaves");
                for (int i = 1; i < 6; i++) need(inner == 0 || counts[i] == inner, "lists of several lengths");
                Node *nodes = room(inner + leaves, sizeof(Node));
                for (int i = 0; i < inner; i++) {
                    int kind = atoi(w[2][i]), left = atoi(w[3][i]), right = atoi(starts[(1 << 16) + i]);
                    need((kind >> 2 & 3) != 1, "zeros that mean missing are not read");
                    nodes[i].feature = atoi(w[1][i]);
                    nodes[i].left = left >= 0 ? left : inner + ~left;
                    nodes[i].right = right >= 0 ? right : inner + ~right;
                    nodes[i].cut = strtod(masks[(1 << 16) + i], NULL); /* where none was missing, it is read as 0 */
                    need(isfinite(nodes[i].cut), "a cut that is not finite");
                    nodes[i].lost = !(kind & 1) && ((kind >> 2 & 3) == 2 ? (kind & 2) != 0 : nodes[i].cut >= 0);
                    if (kind & 1) {
                        int k = (int)nodes[i].cut;
                        need(k >= 0 && k + 1 < cats, "a set that is missing");
                        int a = atoi(starts[k]), b = atoi(starts[k + 1]);
                        need(a >= 0 && a <= b && b <= bits, "a set that is missing");
                        nodes[i].set = room(nodes[i].size = 32 * (b - a), 1);
                        for (int c = 0; c < nodes[i].size; c++)
                            nodes[i].set[c] = strtoul(masks[a + c / 32], NULL, 10) >> c % 32 & 1;
                    }
                }
                for (int i = 0; i < leaves; i++) nodes[inner + i] = (Node){.left = -1, .adds = leaf(strtod(w[0][i], NULL), model.count % sums)};
                model.trees[model.count++] = (Tree){nodes, inner + leaves};
            }
            open = !strncmp(line, "Tree=", 5);
            if (head) {
                need(sums > 0 && sums == each && sums < 100, "other scores than classes");
                snprintf(several, sizeof several, "multiclass num_class:%d", sums);
                int is_one = !strcmp(objective, "binary sigmoid:1"), value = !strcmp(objective, "regression");
                need(is_one || value || !strcmp(objective, several), "an objective that is not read");
                begin(is_one ? LOGISTIC : value ? VALUE : LARGEST, sums);
            }
            head = 0;
            cats = bits = 0;
            memset(counts, 0, sizeof counts);
            if (!open) break;
            continue;
        }
        char *is_ = strchr(line, '=');
        if (head && !strcmp(line, "average_output")) wrong("a forest of LightGBM is not read", "");
        if (!is_) continue;
        *is_++ = 0;
        if (head) {
            if (!strcmp(line, "objective")) objective = is_;
            if (!strcmp(line, "num_class")) sums = atoi(is_);
            if (!strcmp(line, "num_tree_per_iteration")) each = atoi(is_);
            continue;
        }
        const char *keys[] = {"leaf_value", "split_feature", "decision_type", "left_child"};
        for (int i = 0; i < 4; i++) if (!strcmp(line, keys[i])) counts[i] = words(is_, w[i], 1 << 16);
        if (!strcmp(line, "right_child")) counts[4] = words(is_, starts + (1 << 16), 1 << 16);
        if (!strcmp(line, "threshold")) counts[5] = words(is_, masks + (1 << 16), 1 << 16);
        if (!strcmp(line, "cat_boundaries")) cats = words(is_, starts, 1 << 16);
        if (!strcmp(line, "cat_threshold")) bits = words(is_, masks, 1 << 16);
        if (!strcmp(line, "is_linear")) need(!strcmp(is_, "0"), "linear leaves are not read");
    }
    need(!head && model.count % sums == 0, "no objective, or other trees than classes");
}

static void read_curves(Json *all) { /* of a mean; if nothing is said, of the shares of all sums */
    Json *told = maybe(all, "curves");
    need(!told || model.kind == MEAN, "curves of sums that are no mean");
    need(!told || list(told)->count == model.sums - 1, "not a curve for each sum");
    model.curves = room(model.sums, sizeof(Curve));
    for (int k = 0; k < model.sums - 1; k++) {
        Curve *c = model.curves + k;
        Json *straight = told ? maybe(told->items + k, "straight") : NULL, *bend = told ? maybe(told->items + k, "bend") : NULL;
        c->weight = told ? real(part(told->items + k, "weight")) : 1;
        c->straight = straight && truth(straight);
        c->bent = bend && list(bend)->count > 0;
        need(c->weight > 0 && !(c->straight && c->bent), "a curve that is not read");
        model.weight += c->weight;
        if (!c->bent) continue;
        need(bend->count == 3, "a bend of other numbers");
        c->slope = real(bend->items);
        c->shift = real(bend->items + 1);
        c->off = real(bend->items + 2);
        need(c->slope >= 0 && c->off >= 0, "a bend that falls, or a doubt below 0");
    }
}

static void read_arrays(Text data) {
    Json all = parsed(data.text, data.size), *trees = list(part(&all, "trees"));
    need(is(part(&all, "format"), "butfor.forest/1"), "its format is not known");
    Json *reads = part(&all, "reads"), *sum = part(&all, "sum");
    need(is(reads, "float32") || is(reads, "float64"), "what it reads is not known");
    const char *kinds[] = {"logistic", "shares", "value", "largest", "score", "mean"};
    int kind = 0;
    while (kind < 6 && !is(sum, kinds[kind])) kind++;
    need(kind < 6, "its sum is not known");
    model.single = is(reads, "float32");
    Json *base = part(&all, "base"), *digits = maybe(&all, "digits"), *off = maybe(&all, "off");
    model.step = ldexp(1, digits ? -(int)number(digits, 24, 54) : -53);
    int sums = base->kind == '[' ? base->count : 1;
    begin(kind, sums);
    need(!off || list(off)->count == sums, "not a doubt for each sum");
    for (int k = 0; off && k < sums; k++) need((model.off[k + 1] = real(off->items + k)) >= 0, "a doubt below 0");
    double scale = real(part(&all, "scale"));
    int plain = scale == 1;
    for (int k = 0; k < sums; k++) plain &= (model.base[k + 1] = real(base->kind == '[' ? base->items + k : base)) == 0;
    model.arrays = 1;
    read_curves(&all);
    model.mean = truth(part(&all, "mean"));
    need(!model.mean || kind != MEAN, "a mean of means");
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
            node->lost = lost ? (int)number(lost->items + i, 0, 2) : -1;
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
    model.alone = plain && !off && trees->count == 1 && (model.kind == SHARES || model.kind == VALUE);
}

static void read_model(const char *kind, Text data) {
    memset(&model, 0, sizeof model);
    if (!strcmp(kind, "xgboost")) read_xgboost(data);
    else if (!strcmp(kind, "lightgbm")) read_lightgbm(data);
    else if (!strcmp(kind, "arrays")) read_arrays(data);
    else wrong("a model that this checker does not read:", kind);
    need(model.count > 0, "the model has no trees");
    quad *sizes = room(model.sums, sizeof(quad)), *most = room(model.sums, sizeof(quad));
    int *terms = room(model.sums, sizeof(int));
    model.votes = model.kind == SHARES;
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
    }
    for (int k = 0; k < model.sums; k++) model.votes &= model.base[k] == 0 && model.off[k] == 0;
    for (int k = 0; k < model.sums && !model.alone; k++) {
        quad n = (terms[k] + 4) * (quad)model.step;
        model.doubts[k] = (n / (1 - n) * (quad_abs(model.base[k]) + sizes[k]) + (k ? model.extra : 0) + model.off[k]) * (1 + (quad)1e-30);
    }
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
    End *ends; double least, most, start, fees[3], *asked; int known; quad step, anchor, blur;
} Column; /* the last cell of one that loses its number is the missing one; asked: the prices of levels */
typedef struct { quad **adds, most; } Limit; /* what columns add, and what that is at most; of a number one, of levels one each */
typedef struct { int column; unsigned char *inside; } Part; /* a column, and which of its cells lie in a set as a whole */
typedef struct { Part *parts; int count; } Rule; /* what never is true at once */
typedef struct { whole *score; int from, to; } Leaf;             /* its entries */
typedef struct { int column, pair, from, to; } Entry;            /* its blocks */
typedef struct { int column, first, last; int *of_cell; } Pair;  /* the blocks of a column in a tree, and that of each cell or -1 */
typedef struct { int leaf, leaf_end, pair, pair_end; } Grown; /* the leaves and the pairs of a tree */

typedef struct { int plus, less; whole goal; } Goal; /* what is added to one sum, less what is added to another, is at least so much */

static struct {
    Column *columns; int column_count, cells, counted, none;
    whole limit, bound; quad below, unit;
    Goal *goals; int ways, width; /* in each way, so many goals are to be reached */
    quad mean, grain; /* what the curves of sums must add up to. It is the last goal, before it come lines inside of curves */
    Curve *curves; /* the first goals are where sums are 0 */
    unsigned char *home, *alive; whole *price;
    Limit *limits; int limit_count;
    Rule *rules; int rule_count;
    Grown *trees; Leaf *leaves; Entry *entries; Pair *pairs; int *members;
    int leaf_count, entry_count, pair_count, block_count, member_count, leaf_space, entry_space, pair_space, member_space;
} q;

#define more(list, count, space) do { if ((count) == (space)) { (space) = (space) ? 2 * (space) : 256; \
    (list) = realloc((list), (space) * sizeof *(list)); need((list) != NULL, "no memory"); } } while (0)

static quad power_below(quad x) { /* the largest power of two that is not above x */
    quad power = 1;
    while (power > x) power /= 2;
    while (power * 2 <= x) power *= 2;
    return power;
}
static whole floor_of(quad x) { need(quad_abs(x) < FAR, "a number that is too large"); whole k = (whole)x; return k - ((quad)k > x); }
static whole ceil_of(quad x) { return -floor_of(-x); }
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
    memcpy(whole_part, text, size);
    whole_part[size] = 0;
    if (slash) strcpy(below_part, slash + 1);
    char *end, *other;
    whole a = strtoll(whole_part, &end, 10), b = strtoll(below_part, &other, 10), g = llabs(a), h = b;
    need(!*end && !*other && b > 0, "no fraction");
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

/* The least of price + slope x over a change to a number of a range, or less; size is that of the terms of the slope. */
static quad change_in(const Column *c, quad low, quad high, quad slope, quad size) {
    quad fee = q.none ? 0 : c->fees[0], rate = q.none ? 0 : c->fees[1], square = q.none ? 0 : c->fees[2], least = INFINITY;
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
        quad move = quad_abs(x - c->start), price = fee + rate * move + square * move * move;
        quad slack = blur * (rate + 2 * square * (move + blur) + quad_abs(slope));
        int exact = size == 0 && blur == 0 && fee == 0 && square == 0 && (quad)(double)move == move;
        quad found = price + slope * x - slack - (exact ? 0 : (price + slack + size * quad_abs(x)) * (quad)1e-31);
        if (found < least) least = found;
    }
    return least;
}

static quad least_in(const Column *c, int cell, quad slope, quad size) { /* the same over all that is admissible in a cell */
    quad low = cell && c->ends[cell - 1].after > c->least ? c->ends[cell - 1].after : c->least;
    quad high = cell < c->cut_count && c->ends[cell].end < c->most ? c->ends[cell].end : c->most;
    if (c->step != 0 && c->blur == 0 && cell && c->ends[cell - 1].closed && low == c->ends[cell - 1].after) {
        quad at = (low - c->anchor) / c->step;
        if (quad_abs(at) < FAR && at == floor_of(at)) low += c->step; /* the end itself lies in the cell before */
    }
    quad least = change_in(c, low, high, slope, size);
    int own = c->stay && (cell == c->home || (c->known && low <= c->start && c->start <= high));
    quad stays = slope * c->start - size * quad_abs((quad)c->start) * (quad)1e-31;
    return own && stays < least ? stays : least;
}

static double input(Json *of) { return of->kind == 'n' ? NAN : as_read(real(of)); } /* null is a missing value */

static void read_number(Column *c, Json *about, Json *own) {
    Json *now_is = part(own, "now"), *lost = maybe(about, "missing"), *lose = maybe(own, "missing");
    int known = now_is->kind != 'n';
    double least = real(part(own, "least")), most = real(part(own, "most")), fees[3];
    Json *price = list(part(own, "price")), *grid = part(about, "grid"), *edges = part(about, "edges");
    need(price->count == 3, "no three prices");
    for (int i = 0; i < 3; i++) { fees[i] = real(price->items + i); need(fees[i] >= 0, "a negative price"); }
    double now = known ? real(now_is) : least;
    need(known || (fees[1] == 0 && fees[2] == 0), "a price of a distance from nowhere");
    c->loses = lost && lost->kind != 'n';
    need(c->loses || (known && (!lose || lose->kind == 'n')), "a column that is never missing");
    need(!lose || lose->kind == 'n' || known, "a price of what it is");
    if (c->loses) need(list(lost)->count == c->feature_count, "a missing value that does not set its feature");
    if (c->loses && c->feature_count) c->lost = input(lost->items);
    int single_column = truth(part(about, "single")), dyadic = 1;
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
    c->ends = room(cuts + given, sizeof(End));
    if (edges->kind != 'n') need(list(edges)->count == cuts, "not an edge for each cut");
    for (int i = 0; i < cuts; i++) {
        double cut = c->cuts[i], end = edges->kind != 'n' ? real(edges->items + i) : cut;
        need(!i || edges->kind == 'n' || real(edges->items + i - 1) <= end, "edges that fall");
        End *it = c->ends + count++;
        *it = (End){end, end, cut, 1, 1};
        if (single_column) { /* the largest float32 up to it, and the next one */
            it->end = single_below(end);
            it->after = nextafterf((float)it->end, INFINITY);
            it->closed = 0;
        } else if (edges->kind == 'n' && model.single) {
            it->end = it->after = (cut + nextafterf((float)cut, INFINITY)) / 2;
            it->closed = 0;
        }
    }
    for (int i = 0; i < given; i++) { /* both sides of it go the same way: as what is up to the next cut */
        double x = real(others->items + i), cut = INFINITY;
        int known_end = 0;
        for (int k = count - 1; k >= 0; k--) {
            known_end |= c->ends[k].end == x;
            if (k < cuts && c->ends[k].end > x) cut = c->ends[k].cut;
        }
        if (!known_end) c->ends[count++] = (End){x, x, cut, 1, 0};
    }
    qsort(c->ends, count, sizeof(End), by_end);
    c->cut_count = count;
    c->cuts = room(count, sizeof(double));
    for (int i = 0; i < count; i++) c->cuts[i] = c->ends[i].cut;
    c->cells = count + 1 + c->loses;
    c->home = known ? 0 : count + 1;
    for (int i = 0; known && i < count; i++)
        c->home += edges->kind != 'n' || !c->ends[i].own ? c->ends[i].end < now : c->ends[i].cut < as_read(now);
    c->least = least, c->most = most, c->start = now, c->known = known, c->step = step, c->anchor = anchor, c->blur = blur;
    memcpy(c->fees, fees, sizeof fees);
    c->price = room(c->cells, sizeof(whole));
    for (int cell = 0; cell <= count; cell++) {
        quad found = least_in(c, cell, 0, 0);
        c->price[cell] = found == (quad)INFINITY ? FAR : cell == c->home && c->stay ? 0 : in_units(found > 0 ? found : 0, 1);
    }
    if (!c->loses) return;
    double fee = lose && lose->kind != 'n' ? real(lose) : 0;
    need(fee >= 0, "a negative price");
    c->price[c->cells - 1] = lose && lose->kind != 'n' ? in_units(fee, 1) : !known && c->stay ? 0 : FAR;
}

static void read_levels(Column *c, Json *about, Json *own) {
    Json *levels = list(part(about, "levels")), *prices = list(part(own, "prices"));
    c->levels = 1;
    c->cells = levels->count;
    need(prices->count == c->cells, "not every level has a price");
    c->home = (int)number(part(own, "now"), 0, c->cells);
    c->price = room(c->cells, sizeof(whole));
    c->inputs = room(c->cells, sizeof(double *));
    c->asked = room(c->cells, sizeof(double));
    for (int k = 0; k < c->cells; k++) {
        Json *level = list(levels->items + k), *price = prices->items + k;
        need(level->count == c->feature_count + 1, "a level lacks a feature");
        c->inputs[k] = room(c->feature_count, sizeof(double));
        for (int f = 0; f < c->feature_count; f++) c->inputs[k][f] = input(level->items + f + 1);
        double p = price->kind == 'n' ? 0 : real(price);
        need(p >= 0, "a negative price");
        c->asked[k] = p;
        c->price[k] = price->kind == 'n' ? FAR : in_units(p, 1);
    }
    c->stay = c->price[c->home] != FAR;
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
        if (maybe(about, "levels")) { read_levels(c, about, owns->items + j); continue; }
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
        read_number(c, about, owns->items + j);
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
    Part part = {(int)number(list(told)->items, 0, q.column_count), NULL};
    Column *c = q.columns + part.column;
    part.inside = room(c->cells, 1);
    if (c->levels) {
        need(told->count == 2, "no levels of a rule");
        for (int i = 0; i < list(told->items + 1)->count; i++) part.inside[number(told->items[1].items + i, 0, c->cells)] = 1;
        return part;
    }
    need(told->count == 4, "no numbers of a rule");
    double above = told->items[1].kind == 'n' ? -INFINITY : real(told->items + 1), most = told->items[2].kind == 'n' ? INFINITY : real(told->items + 2);
    int lost = truth(told->items + 3);
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

static quad counts(const Node *leaf, const Goal *goal) { return leaf->adds[goal->plus] - leaf->adds[goal->less]; }

static void read_pairs(Json *which, int by_difference, int one, int sign) { /* which sums are to exceed which, in each way */
    if (model.kind == MEAN) {
        q.ways = 1;
        q.width = model.sums;
        q.curves = room(model.sums, sizeof(Curve));
        for (int k = 0; k < model.sums - 1; k++) {
            Curve *c = q.curves + k;
            *c = model.curves[k];
            q.width += c->bent;
            c->turned = sign < 0;
            if (c->turned) c->shift = -c->slope - c->shift;
        }
        q.goals = room(q.width, sizeof(Goal));
        for (int k = 1; k < model.sums; k++) q.goals[k - 1] = sign > 0 ? (Goal){k, 0, 0} : (Goal){0, k, 0};
        return;
    }
    if (!by_difference) {
        q.ways = q.width = 1;
        q.goals = room(1, sizeof(Goal));
        q.goals[0] = sign > 0 ? (Goal){one, 0, 0} : (Goal){0, one, 0};
        return;
    }
    unsigned char named[100] = {0};
    q.ways = which->kind == '[' ? which->count : 1;
    q.width = model.classes - q.ways;
    need(q.ways > 0 && q.width > 0, "all classes, or none");
    q.goals = room(q.ways * q.width, sizeof(Goal));
    for (int w = 0; w < q.ways; w++) {
        int k = (int)number(which->kind == '[' ? which->items + w : which, 0, model.classes);
        need(!named[k], "a class that is there twice");
        named[k] = 1;
        q.goals[w * q.width].plus = model.first + k;
    }
    for (int w = 0; w < q.ways; w++)
        for (int other = 0, g = w * q.width; other < model.classes; other++)
            if (!named[other]) q.goals[g++] = (Goal){q.goals[w * q.width].plus, model.first + other, 0};
}

static void read_goals(Json *wanted) {
    Json *of = list(part(wanted, "of")), *least = maybe(wanted, "at least"), *most = maybe(wanted, "at most");
    need(of->count == 2, "no target");
    int class = is(of->items, "class"), value = is(of->items, "value"), which = 1, sign = most ? -1 : 1;
    need(class || value || is(of->items, "probability"), "a target that is not known");
    need((least != NULL) + (most != NULL) == !class, "a target without an end, or with two");
    need(value == (model.kind == VALUE) && (class || (model.kind != LARGEST && model.kind != SCORE)), "the model does not say that");
    quad at = least ? real(least) : most ? real(most) : 0.5, low = at * (model.mean ? model.count : 1);
    int logits = model.kind == LOGISTIC || model.kind == MEAN;
    int several = !value && of->items[1].kind == '[', by_difference = class && !logits;
    need(!several || class, "a probability of several classes");
    if (several && !by_difference) need(of->items[1].count == 1, "all classes, or none");
    if (!value && !by_difference) which = (int)number(several ? of->items[1].items : of->items + 1, 0, model.classes);
    if (logits) {
        quad d = (14 + model.sums) * (quad)model.step;
        if (!which) { sign = -sign; at = 1 - at; }
        need(d < at && at < 1 - d, "a probability so close to 0 or 1 is not proven");
        low = model.kind == MEAN ? 0 : (sign > 0 ? logit(at - d) : logit(at + d)) + sign * (quad)-1e-28;
        q.mean = model.weight * ((sign > 0 ? at : 1 - at) - d);
        q.mean -= quad_abs(q.mean) * (quad)1e-30;
    }
    if (by_difference) low = 0;
    read_pairs(of->items + 1, by_difference, model.kind == SHARES ? model.first + which : 1, sign);
    int sure = model.alone || (model.votes && class), count = q.ways * q.width;
    quad largest = 0;
    for (int t = 0; t < model.count; t++)
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            for (int g = 0; g < count && node->left < 0; g++) {
                quad size = quad_abs(counts(node, q.goals + g));
                largest = size > largest ? size : largest;
            }
        }
    quad grain = power_below(largest == 0 ? 1 : largest) / ((quad)((whole)1 << 40));
    q.grain = grain;
    for (int g = 0; g < count; g++) {
        Goal *goal = q.goals + g;
        if (model.kind == MEAN && g >= model.sums - 1) { goal->goal = g < count - 1 ? 0 : floor_of(q.mean * ((whole)1 << 40)); continue; }
        quad doubt = sure ? 0 : model.doubts[goal->plus] + model.doubts[goal->less];
        quad x = (sign * low - doubt - (model.base[goal->plus] - model.base[goal->less])) / grain;
        need(quad_abs(x) < FAR / 2, "a goal that is too far away");
        if (!sure) x -= quad_abs(x) * (quad)1e-31;
        if (model.kind == MEAN) goal->goal = floor_of(x);
        else goal->goal = sure && class && goal->less < goal->plus ? floor_of(x) + 1 : ceil_of(x); /* of equals, the first is predicted */
    }
    for (int t = 0; t < model.count; t++)
        for (int i = 0; i < model.trees[t].count; i++) {
            Node *node = model.trees[t].nodes + i;
            if (node->left >= 0) continue;
            node->score = room(count, sizeof(whole));
            for (int g = 0; g < count; g++) node->score[g] = ceil_of(counts(node, q.goals + g) / grain);
        }
}

static int goes_left(const Node *node, int j, int cell) {
    Column *c = q.columns + j;
    if (!c->levels && cell > c->cut_count) return to_left(node, c->lost);
    if (!c->levels) return cell < c->cut_count ? c->cuts[cell] <= node->cut : node->cut == INFINITY;
    for (int i = 0; i < c->feature_count; i++)
        if (c->features[i] == node->feature) return to_left(node, c->inputs[cell][i]);
    return 0;
}

static int pair_of(Grown *tree, Tree *from, int j) { /* the blocks of a column in a tree; returns 0 if it does not tell it apart */
    Column *c = q.columns + j;
    int *label = room(c->cells, sizeof(int)), *other = room(2 * c->cells + 2, sizeof(int)), labels = 1;
    for (int i = 0; i < from->count; i++) {
        Node *node = from->nodes + i;
        if (node->left < 0 || column_of[node->feature] != j) continue;
        for (int k = 0; k < 2 * labels; k++) other[k] = -1;
        labels = 0;
        for (int cell = 0; cell < c->cells; cell++) {
            if (!q.alive[c->first + cell]) continue;
            int key = 2 * label[cell] + goes_left(node, j, cell);
            if (other[key] < 0) other[key] = labels++;
            label[cell] = other[key];
        }
    }
    for (int k = 0; k < labels; k++) other[k] = -1;
    if (labels > 1) {
        int found = 0;
        for (int cell = 0; cell < c->cells; cell++) {
            if (!q.alive[c->first + cell]) { label[cell] = -1; continue; }
            if (other[label[cell]] < 0) other[label[cell]] = q.block_count + found++; /* sorted by their lowest cell */
            label[cell] = other[label[cell]];
        }
        more(q.pairs, q.pair_count, q.pair_space);
        q.pairs[q.pair_count++] = (Pair){j, q.block_count, q.block_count + found, label};
        q.block_count += found;
        tree->pair_end = q.pair_count;
    } else free(label);
    free(other);
    return labels > 1;
}

static void read_tree(int t) {
    Tree *from = model.trees + t;
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
    for (int j = 0; j < q.column_count; j++) if (asked[j]) pair_of(tree, from, j);
    unsigned char *inside = room(q.cells, 1);
    for (int leaf = 0; leaf < n; leaf++) {
        if (from->nodes[leaf].left >= 0 || (leaf && parent[leaf] < 0)) continue;
        int reached = 1, first = q.entry_count, rooted = leaf == 0;
        memset(asked, 0, q.column_count * sizeof *asked);
        for (int child = leaf, at = parent[leaf]; at >= 0; child = at, at = parent[at]) {
            Node *node = from->nodes + at;
            int j = column_of[node->feature];
            Column *c = q.columns + j;
            if (!asked[j]) memcpy(inside + c->first, q.alive + c->first, c->cells);
            asked[j] = 1;
            rooted |= at == 0;
            if (node->left != node->right)
                for (int cell = 0; cell < c->cells; cell++)
                    if (inside[c->first + cell]) inside[c->first + cell] = goes_left(node, j, cell) == (child == node->left);
        }
        if (!rooted) continue;
        for (int p = tree->pair; p < tree->pair_end; p++) {
            Pair *pair = q.pairs + p;
            Column *c = q.columns + pair->column;
            if (!asked[pair->column]) continue;
            int some = 0, all = 1, from_member = q.member_count;
            for (int cell = 0; cell < c->cells; cell++) {
                if (!q.alive[c->first + cell]) continue;
                if (!inside[c->first + cell]) { all = 0; continue; }
                int block = pair->of_cell[cell], known = 0;
                some = 1;
                for (int m = q.member_count - 1; m >= from_member && !known; m--) known = q.members[m] == block;
                if (known) continue;
                more(q.members, q.member_count, q.member_space);
                q.members[q.member_count++] = block;
            }
            reached &= some;
            if (all) { q.member_count = from_member; continue; }
            more(q.entries, q.entry_count, q.entry_space);
            q.entries[q.entry_count++] = (Entry){pair->column, p, from_member, q.member_count};
        }
        for (int j = 0; j < q.column_count && reached; j++) { /* a column that the tree does not tell apart leads here, or not */
            Column *c = q.columns + j;
            if (asked[j]) { reached = 0; for (int cell = 0; cell < c->cells; cell++) reached |= inside[c->first + cell]; }
        }
        if (!reached) { q.entry_count = first; continue; }
        more(q.leaves, q.leaf_count, q.leaf_space);
        q.leaves[q.leaf_count++] = (Leaf){from->nodes[leaf].score, first, q.entry_count};
    }
    tree->leaf_end = q.leaf_count;
    free(parent);
    free(asked);
    free(inside);
}

static void read_question(Json *shared, Json *own) {
    memset(&q, 0, sizeof q);
    need(is(part(shared, "format"), "butfor.question/1") && is(part(own, "format"), "butfor.proof/1"), "another format");
    Json *below = part(own, "below"), *changes = part(own, "changes");
    q.none = below->kind == 'n';
    q.below = q.none ? 1 : real(below);
    need(q.below > 0, "a bound that says nothing");
    q.unit = power_below(q.below) / ((quad)((whole)1 << 40));
    q.bound = ceil_of(q.below / q.unit);
    read_columns(shared, own);
    q.counted = changes->kind != 'n';
    q.limit = q.counted ? number(changes, 0, q.column_count + 1) : q.column_count;
    need(!maybe(own, "cost"), "another cost than a sum, which this checker does not read");
    need(!maybe(own, "ball") && !maybe(own, "replies"), "a ball, which this checker does not read");
    read_relations(maybe(own, "relations"));
    read_rules(maybe(own, "never"));
    read_goals(part(shared, "wanted"));
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
    q.trees = room(model.count, sizeof(Grown));
    for (int t = 0; t < model.count; t++) read_tree(t);
    for (int g = 0; g < q.ways * q.width; g++) {
        whole step = 0, some = 0; /* sums of scores are that of the first leaves, and so many steps */
        for (int t = 0; t < model.count; t++)
            for (int i = q.trees[t].leaf; i < q.trees[t].leaf_end; i++) {
                whole first = q.leaves[q.trees[t].leaf].score[g], a = llabs(q.leaves[i].score[g] - first), b = step;
                if (i == q.trees[t].leaf) some += first;
                while (a) { whole r = b % a; b = a; a = r; }
                step = b;
            }
        if (step && model.kind != MEAN) q.goals[g].goal += ((some - q.goals[g].goal) % step + step) % step;
    }
}

/* ------------------------------------------------------------------------------------------------------ the walk */

typedef struct { unsigned char *alive, *leaf; int nobody, way; } Box;

static struct { whole *message, *rates, toll, *price; quad back; int shift; Box *open; int count, space; whole *least, *paid, *cell, *cost; unsigned char *home, *living; } walk;

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
    whole least[q.column_count + 1], must = 0;
    int stays[q.column_count + 1];
    wide total = 0;
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
    if (left_out(box)) { narrowed(box); return; }
    blocks_of(box);
    for (int t = 0; t < model.count; t++) {
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

static wide added_up(Box *box, int g, int sign) { /* the most that living leaves add up to towards a goal, or the least, negated */
    wide total = 0;
    for (int t = 0; t < model.count; t++) {
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

static quad above(const Curve *c, quad worth, quad rate, quad inner, quad low, quad high) { /* the same of what a sum adds to the mean */
    worth *= c->weight;
    if (c->straight) { /* the line is highest at an end */
        quad a = worth * (low * q.grain + c->turned) - rate * low, b = worth * (high * q.grain + c->turned) - rate * high;
        return (a > b ? a : b) + (worth + rate) * (1 + quad_abs(low) + quad_abs(high)) * (quad)1e-31;
    }
    if (!c->bent) return highest(worth, rate, low, high, q.grain);
    quad grain = ldexp(1, -20), first = line_in(c, low * q.grain, -1), last = line_in(c, high * q.grain, 1);
    quad more = inner * (c->shift + c->off) + inner * (quad_abs(c->shift) + c->off) * (quad)1e-30;
    return highest(worth, inner * grain, first / grain, last / grain, grain) + more + highest(inner * c->slope, rate, low, high, q.grain);
}

static wide curve(Box *box) { /* at most so much is the mean worth more than its sums */
    quad total = 0, worth = (quad)walk.rates[q.width - 1] * ((whole)1 << 40);
    for (int g = 0, bend = model.sums - 1; g < model.sums - 1 && model.kind == MEAN; g++) {
        quad zero = q.goals[g].goal, inner = q.curves[g].bent ? (quad)walk.rates[bend++] * ((whole)1 << 40) : 0;
        total += above(q.curves + g, worth, walk.rates[g], inner, -(quad)added_up(box, g, -1) - zero, (quad)added_up(box, g, 1) - zero);
    }
    need(quad_abs(total) < (quad)FAR * FAR / 8, "larger numbers than this checker counts");
    return (wide)total + 1;
}

static wide bound_of(Box *box) { /* and what each living cell costs its column, and each living leaf its tree */
    blocks_of(box);
    int first = box->way * q.width;
    wide goal = 0;
    for (int g = 0; g < q.width; g++) goal += (wide)walk.rates[g] * q.goals[first + g].goal;
    if (model.kind == MEAN) goal -= curve(box);
    wide total = shifted(goal, walk.shift) - (wide)walk.toll * q.limit - (wide)walk.back;
    wide *cell = room(q.cells, sizeof(wide));
    for (int c = 0; c < q.cells; c++) cell[c] = walk.price[c] + (q.home[c] ? 0 : (wide)walk.toll);
    for (int t = 0; t < model.count; t++) {
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

static void split(Json *what) {
    need(list(what)->count == 2, "a split of two numbers");
    int j = (int)number(what->items, 0, q.column_count);
    Column *c = q.columns + j;
    Box old = walk.open[--walk.count], parts[2] = {box_like(&old), box_like(&old)};
    int in[2] = {0, 0};
    char *mask = what->items[1].kind == '"' ? what->items[1].text : NULL;
    whole cut = mask ? 0 : number(what->items + 1, 0, c->cells + 1);
    if (mask && !strncmp(mask, "0x", 2)) mask += 2;
    size_t size = mask ? strlen(mask) : 0;
    need(!mask || (size && strspn(mask, "0123456789abcdef") == size), "no mask");
    for (int k = 0; k < c->cells; k++) {
        int digit = mask && (size_t)k / 4 < size ? mask[size - 1 - k / 4] : '0';
        int first = mask ? (digit <= '9' ? digit - '0' : digit - 'a' + 10) >> k % 4 & 1 : k < cut;
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

static void tax_limits(Json *what) { /* a unit of each limit costs so much more, and the limits are paid back */
    quad back = 0, size = 0;
    double tax[2 * q.limit_count + 1];
    need(list(what)->count == q.limit_count && q.limit_count, "not a tax for each limit");
    for (int e = 0; e < q.limit_count; e++) {
        tax[e] = real(what->items + e);
        need(tax[e] >= 0, "a negative tax");
        back += tax[e] * q.limits[e].most;
        size += quad_abs(tax[e] * q.limits[e].most);
    }
    back = (back + size * (quad)1e-31) / q.unit;
    need(quad_abs(back) < FAR, "larger numbers than this checker counts");
    walk.back = ceil_of(back);
    memcpy(walk.price, q.price, q.cells * sizeof(whole));
    for (int j = 0; j < q.column_count; j++) {
        Column *c = q.columns + j;
        int related = 0;
        for (int e = 0; e < q.limit_count; e++) related |= q.limits[e].adds[j] != NULL;
        for (int k = 0; related && k < c->cells; k++) {
            if (q.price[c->first + k] == FAR) continue;
            quad slope = 0, terms = 0, found;
            for (int e = 0; e < q.limit_count; e++) {
                quad add = q.limits[e].adds[j] ? tax[e] * q.limits[e].adds[j][c->levels ? k : 0] : 0;
                slope += add;
                terms += quad_abs(add);
            }
            quad price = c->levels && !q.none ? c->asked[k] : 0;
            found = c->levels ? price + slope - (price + terms) * (quad)1e-31 : least_in(c, k, slope, terms);
            need(quad_abs(found / q.unit) < FAR, "larger numbers than this checker counts");
            walk.price[c->first + k] = floor_of(found / q.unit);
        }
    }
}

static void step(Json *told) {
    need(told->kind == '{' && told->count == 1, "a step says one thing");
    need(walk.count > 0, "a step after the end");
    Json *what = told->items;
    char *kind = told->keys[0];
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
    } else if (!strcmp(kind, "toll")) {
        need(q.counted, "a toll without a limit");
        walk.toll = number(what, 0, ROOM);
    } else if (!strcmp(kind, "tax")) tax_limits(what);
    else if (!strcmp(kind, "drop")) {
        if (box->nobody) return;
        wide spare = q.bound - bound_of(box);
        for (int j = 0; j < q.column_count; j++)
            dropped(box->alive, walk.cell, q.columns[j].first, q.columns[j].first + q.columns[j].cells, spare);
        for (int t = 0; t < model.count; t++) dropped(box->leaf, walk.cost, q.trees[t].leaf, q.trees[t].leaf_end, spare);
        narrowed(box);
    } else {
        need(!strcmp(kind, "end"), "an unknown step");
        char *why_done = text_of(what);
        if (!box->nobody && !strcmp(why_done, "score")) {
            int missed = 0;
            quad shares = 0;
            for (int g = box->way * q.width; g < (box->way + 1) * q.width; g++) {
                wide most = added_up(box, g, 1);
                missed |= model.kind != MEAN && most < q.goals[g].goal;
                if (model.kind == MEAN && g < model.sums - 1) shares += adds(q.curves + g, ((quad)most - q.goals[g].goal) * q.grain, 1);
            }
            missed |= model.kind == MEAN && shares < q.mean;
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

static void add_up(Json *inputs, quad *totals) { /* the sums of a row of features */
    for (int k = 0; k < model.sums; k++) totals[k] = model.base[k];
    for (int t = 0; t < model.count; t++) {
        Node *nodes = model.trees[t].nodes, *node = nodes;
        while (node->left >= 0) {
            need(node->feature < inputs->count, "a row that is too short");
            node = nodes + (to_left(node, input(inputs->items + node->feature)) ? node->left : node->right);
        }
        for (int k = 0; k < model.sums; k++) totals[k] += node->adds[k];
    }
}

static void likely(const quad *totals, Json *said) { /* how much more likely each class is than the first */
    need((model.kind == LOGISTIC || model.kind == LARGEST || model.kind == MEAN) && list(said)->count == model.classes, "not a probability for each class");
    quad off = (model.kind == MEAN ? 14 + model.sums : 16) * (quad)model.step, first = real(said->items), spare = (quad)1e-28;
    quad all = 0;
    for (int k = 0; k < model.classes; k++) {
        quad p = real(said->items + k);
        need(p >= 0, "no probabilities");
        all += p;
    }
    need(all <= 1 + model.classes * off, "no probabilities");
    quad least = 0, most = 0;
    for (int k = 1; k < model.sums && model.kind == MEAN; k++) {
        least += adds(model.curves + k - 1, totals[k] - model.doubts[k] - spare, -1) / model.weight;
        most += adds(model.curves + k - 1, totals[k] + model.doubts[k] + spare, 1) / model.weight;
    }
    if (model.kind == MEAN) {
        quad p = real(said->items + 1);
        need(least - off - spare <= p && p <= most + off + spare, "a recorded row has another probability");
        return;
    }
    for (int k = 1; k < model.classes; k++) {
        int sum = model.first + k, no = model.first;
        quad p = real(said->items + k), apart = totals[sum] - totals[no], doubt = model.doubts[sum] + model.doubts[no] + spare;
        need(p <= off || apart >= quad_log((p - off) / (first + off)) - doubt, "a recorded row has another probability");
        need(first <= off || apart <= quad_log((p + off) / (first - off)) + doubt, "a recorded row has another probability");
    }
}

static void recorded(Json *rows) {
    quad *totals = room(model.sums, sizeof(quad));
    for (int r = 0; r < list(rows)->count; r++) {
        need(list(rows->items + r)->count == 2, "no recorded row");
        Json *inputs = list(rows->items[r].items), *said = rows->items[r].items + 1;
        add_up(inputs, totals);
        if (said->kind == '{') { likely(totals, part(said, "probabilities")); continue; }
        int count = said->kind == '[' ? said->count : 1;
        need(count == (model.classes > 2 ? model.classes : 1), "not a score for each class");
        for (int k = 0; k < count; k++) {
            int sum = model.sums - count + k;
            quad over = model.mean ? model.count : 1;
            quad off = quad_abs(totals[sum] / over - real(said->kind == '[' ? said->items + k : said));
            need(off <= model.doubts[sum] / over + ldexp(1, -69), "a recorded row has another score");
        }
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

static void check(const char *path) {
    Text text = opened(path);
    while (text.size && text.text[text.size - 1] == '\n') text.size--;
    int lines = 1;
    for (size_t i = 0; i < text.size; i++) lines += text.text[i] == '\n';
    need(lines > 2, "the proof has no steps");
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
    recorded(part(&shared, "recorded"));
    read_question(&shared, &own);
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
    memcpy(walk.price, q.price, q.cells * sizeof(whole));
    for (int way = q.ways - 1; way >= 0; way--) { /* the first one is worked on first */
        Box all = {room(q.cells, 1), room(q.leaf_count, 1), 0, way};
        memcpy(all.alive, q.alive, q.cells);
        memset(all.leaf, 1, q.leaf_count);
        put(all);
    }
    for (int i = 1; i < lines - 1; i++) {
        Json told = parsed(line[i], line[i + 1] - line[i] - 1);
        step(&told);
    }
    need(walk.count == 0, "the proof ends before all boxes are done");
}

int main(int count, char **paths) {
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
