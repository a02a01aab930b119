// The rewriter of `lab emulate` alone: what it changes, what it leaves alone, and that lines keep their
// numbers.
#include "harness/front/emulate/rewrite.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "harness/front/emulate/tokens.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/damaged.hpp"

namespace {

using lab::front::rewrite_cuda;
using lab::front::rewritten_source;
using lab::test::contains;

long lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

// The kernel's name, as the rewriter has found it before the chevrons.
std::string kernel_of(const std::string& source) {
  const std::string text = rewrite_cuda(source).text;
  const std::string mark = "return lab_use(";
  const std::size_t begin = text.find(mark);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find("); }, \"", begin);
  return text.substr(begin + mark.size(), end - begin - mark.size());
}

}  // namespace

TEST_CASE("a launch is rewritten whatever its kernel and its configuration look like") {
  CHECK(kernel_of("void f() { k<<<1, 2>>>(a); }") == "k");
  CHECK(kernel_of("void f() { if (x) k <<< g , b >>> (a); }") == "k");
  CHECK(kernel_of("void f() { ns::k<T, (3 > 2)><<<1, 2, 3, s>>>(); }") == "ns::k<T, (3 > 2)>");
  CHECK(kernel_of("void f() { k<A<B>><<<1, 2>>>(a); }") == "k<A<B>>");
  CHECK(kernel_of("void f() { k<(1 << 2), sizeof(T) < 8><<<1, 2>>>(a); }") == "k<(1 << 2), sizeof(T) < 8>");
  CHECK(kernel_of("void f() { k<n <= 8, m >= 4><<<1, 2>>>(a); }") == "k<n <= 8, m >= 4>");
  CHECK(kernel_of("void f() { ::k<<<1, 2>>>(a); }") == "::k");
  CHECK(kernel_of("void f() { return table[i + 1]<<<1, 2>>>(a); }") == "table[i + 1]");
  CHECK(kernel_of("void f() { (*pointer)<<<1, 2>>>(a); }") == "(*pointer)");
  CHECK(kernel_of("void f() { this->template go<3><<<1, 2>>>(a); }") == "this->template go<3>");
  CHECK(kernel_of("void f() { k<<<dim3(1, g<h>(2)), f<int>()>>>(a, b < c); }") == "k");
  CHECK(kernel_of("void f() { k<<<n, size<T>>>>(a); }") == "k");
  const rewritten_source two =
      rewrite_cuda("void f() { a<<<1, 2>>>(x); b<<<1, 2>>>([&] { c<<<3, 4>>>(); }); }");
  CHECK(two.launches == 3);
  CHECK(contains(two.text, "::lab::emulator::chevrons(1, 2)"));
  CHECK(contains(rewrite_cuda("void f() { ns::k<unsigned int, 'a'><<<1, 2>>>(); }").text,
                 ", \"ns::k<unsigned int,'a'>\")"));
}

TEST_CASE("what only looks like a launch stays as it is") {
  for (const std::string source :
       {"const char* s = \"k<<<1, 2>>>(a)\";", "auto s = R\"x(k<<<1, 2>>>(a))x\";",
        "// k<<<1, 2>>>(a)\nint a;", "/* k<<<1, 2>>>(a) */ int a;", "int a = b << c >> d;",
        "std::cout << x << y;", "auto p = &operator<< <int>;", "int c = '<'; int d = '<<<';", "x = k<<<1;",
        "int __shared = 3; int lab_shared__;"}) {
    INFO(source);
    CHECK(rewrite_cuda(source).text == source);
    CHECK(rewrite_cuda(source).launches == 0);
  }
}

TEST_CASE("lines keep their numbers, and messages name the file and line of the program") {
  const std::string source =
      "# 1 \"a.cu\"\n__lab_global__ void k(int* a)\n{\n  asm(\"bra x;\");\n}\nvoid f() {\n  k\n  <<<1,\n  "
      "2>>>\n  (a);\n}\n";
  const rewritten_source result = rewrite_cuda(source);
  CHECK(lines_of(result.text) == lines_of(source));
  CHECK(result.launches == 1);
  REQUIRE(result.refused.size() == 1);
  CHECK(result.refused[0].file == "a.cu");
  CHECK(result.refused[0].line == 3);
  CHECK(contains(result.refused[0].message, "inline PTX"));
  CHECK_FALSE(contains(result.text, "__lab_global__"));
}

TEST_CASE("a member template of what depends on a parameter is named as one, and a comparison is none") {
  const auto text = [](const std::string& value) {
    return rewrite_cuda("template <class T> __lab_device__ int f(T t) { return " + value + "; }", false, true)
        .text;
  };
  CHECK(contains(text("A<T>::f<3>(1)"), "A<T>::template f<3>(1)"));
  CHECK(contains(text("A<B<T>>::f<(3 > 2)>(1)"), "A<B<T>>::template f<(3 > 2)>(1)"));
  CHECK(contains(text("T::f<int>(1)"), "T::template f<int>(1)"));
  CHECK(contains(text("t.f<3>(1)"), "t.template f<3>(1)"));
  CHECK(contains(text("t->f<int, A<T>>(1)"), "t->template f<int, A<T>>(1)"));
  for (const std::string same :
       {"A<T>::template f<3>(1)", "A<T>::size < 3 && 4 > (1)", "g(t.x < a, b > (1))", "t.x < 3 || t.y > (1)",
        "A<T>::size < 3", "t.x < 0 ? 0 : t.x > (1) ? 1 : 2", "t.x <= 0 && 2 > (1)", "a[t.x < 3] > (1)",
        "(t.x < 3) + (4 > (1))", "n::f<3>(1)", "f<3>(1)"}) {
    INFO(same);
    CHECK(contains(text(same), same));
  }
}

TEST_CASE("code behind a label that declares a variable has braces, as nvcc lets a switch jump over it") {
  const auto text = [](const std::string& cases) {
    return rewrite_cuda("__lab_device__ int f(int v) { switch (v) { " + cases + " } }", false, true).text;
  };
  CHECK(contains(text("case 1: int q = 3; return q; case 2: return 4;"),
                 "case 1: { int q = 3; return q; } case 2: return 4;"));
  CHECK(contains(text("case 1: int q = 3; break; case 2: { int q = 4; return q; }"),
                 "case 1: { int q = 3; break; } case 2: { int q = 4; return q; }"));
  CHECK(contains(text("case 1: float x = v.x; g(x); break; case 2: int y; g(v.x);"),
                 "case 1: { float x = v.x; g(x); break; } case 2: int y; g(v.x);"));
  CHECK(contains(text("case v ? 1 : 2: float a[2] = {1, 2}; break; default: break;"),
                 ": { float a[2] = {1, 2}; break; } default: break;"));
  CHECK(contains(text("case 1: T* p = g(); p[0] = 1; case 2: V b(3); default: return 1;"),
                 "case 1: { T* p = g(); p[0] = 1; } case 2: { V b(3); } default: return 1;"));
  for (const std::string same :
       {"case 1: int q; g(q); break; case 2: g(q); break;",
        "case 1: unsigned u; h(u); break; case 2: h(u); break;",
        "case 1: float s = 1; g(*h); break; case 2: g(s); break;",
        "case 1: { int q = 3; return q; } case 2: return 4;", "case 1: int q = 3; case 2: q = 4; return q;",
        "case 1: g(v); break; case 2: return 4;", "case 1: return 3; default: int q = 4; return q;"}) {
    INFO(same);
    CHECK(contains(text(same), same));
  }
}

TEST_CASE("shared memory becomes the running block's") {
  const auto text = [](const std::string& body) {
    return rewrite_cuda("__lab_global__ void k() { " + body + " }").text;
  };
  CHECK(
      contains(text("__lab_shared__ float a[3];"), "thread_local __attribute__((aligned(16))) float a[3];"));
  CHECK(contains(text("CUtensorMap map; __lab_shared__ float a[3];"),
                 "thread_local __attribute__((aligned(1024))) float a[3];"));
  CHECK(contains(text("__lab_shared__ alignas(16) float a[3];"), "alignas ( 16 )"));
  CHECK(text("__lab_shared__ alignas(16) float a[3];").find("alignas") <
        text("__lab_shared__ alignas(16) float a[3];").find("thread_local"));
  CHECK(contains(text("extern __lab_shared__ float a[];"),
                 "float (&a)[] = ::lab::emulator::dynamic_shared_memory{};"));
  CHECK(contains(text("extern volatile __lab_shared__ T a[], b[][4];"), "(&b)[][4] = "));
  CHECK(contains(rewrite_cuda("extern __lab_shared__ int all[];").text,
                 "all[] __asm__(\"lab_dynamic_shared\")"));
  CHECK(contains(rewrite_cuda("namespace n { extern __lab_shared__ int all[]; }").text, "__asm__"));
  CHECK(contains(text("extern __lab_shared__ pair<int, 3> both;"),
                 "pair<int, 3> &both = ::lab::emulator::dynamic_shared_memory{};"));
  CHECK(contains(text("extern __lab_shared__ pair<int, 3> one, many[2], other;"),
                 "pair<int, 3> &one = ::lab::emulator::dynamic_shared_memory{}, "
                 "(&many)[2] = ::lab::emulator::dynamic_shared_memory{}, "
                 "&other = ::lab::emulator::dynamic_shared_memory{};"));
  CHECK(contains(rewrite_cuda("extern __lab_shared__ int one, other;").text,
                 "one __asm__(\"lab_dynamic_shared\"), other __asm__(\"lab_dynamic_shared\");"));
  CHECK(contains(rewrite_cuda("extern __lab_shared__ pair both;").text,
                 "both __asm__(\"lab_dynamic_shared\")"));
}

TEST_CASE("words and line ends that nvcc alone takes become the compiler's") {
  CHECK(
      rewrite_cuda("__lab_device__ __noinline__ int f();").text.find("__attribute__((noinline)) int f();") !=
      std::string::npos);
  const std::string attribute = "__attribute__((__noinline__, __noinline__)) int f();";
  CHECK(rewrite_cuda(attribute).text == attribute);
  // A backslash that joined lines before a comment went.
  CHECK(rewrite_cuda("int a = 1 + \\\n 2;").text == "int a = 1 +  \n 2;");
  const std::string literal = "const char* s = \"a\\\n\"; char c = '\\'; int b = \\ 2;";
  CHECK(rewrite_cuda(literal).text == literal);
}

TEST_CASE("a member function of a kernel's own class may be defaulted or deleted") {
  const std::string source =
      "__lab_device__ void f() { struct A { int x; bool operator==(const A&) const = default; "
      "bool operator<(const A&) const noexcept = delete; }; }";
  CHECK(contains(rewrite_cuda(source).text,
                 "const = default; bool operator<(const A&) const noexcept = delete;"));
}

TEST_CASE("what is not emulated is refused with its line") {
  const auto refused = [](const std::string& source) {
    const auto result = rewrite_cuda("# 1 \"a.cu\"\n" + source);
    return result.refused.empty() ? std::string() : result.refused.front().message;
  };
  CHECK(contains(refused("cudaMipmappedArray_t a;"), "mipmaps"));
  CHECK(contains(refused("float4 four = tex2Dgather<float4>(t, 1, 1, 0);"), "gathers of textures"));
  CHECK(contains(refused("cudaIpcMemHandle_t h;"), "one process"));
  CHECK(contains(refused("__cluster_barrier_wait();"), "clusters"));
  CHECK(contains(refused("void f() { k<<<1, 2>>>; }"), "parentheses"));
  // The same words where they mean something else.
  CHECK(refused("void f() { c<<<1, 1>>>(); asm(\"nop\"); }").empty());
  CHECK(refused("__lab_global__ void k() { c<<<1, 1>>>(); }").empty());
  CHECK(refused("__lab_host__ __lab_device__ void f() { c<<<1, 1>>>(); }").empty());
  CHECK(refused("void f(T t) { t.cudaIpcMemHandle_t(1); }").empty());
  CHECK(refused("const char* name = \"cudaMipmappedArray_t\";").empty());
  CHECK(rewrite_cuda("# 1 \"/usr/include/x.h\" 1 3 4\nint cuMemCreate(int);").refused.empty());
}

TEST_CASE("texture references, and kernels that become nodes of graphs, keep their types") {
  CHECK(
      contains(rewrite_cuda("texture<float, 2> t;").text, "::lab::emulator::texture_reference<float, 2> t;"));
  CHECK(contains(rewrite_cuda("my::texture<float> t;").text, "my::texture<float> t;"));
  CHECK(contains(rewrite_cuda("void f() { p.func = (void *)kernel; }").text, "p.func = kernel;"));
  CHECK(contains(rewrite_cuda("void f() { cudaKernelNodeParams p = {(void*)kernel, 1}; }").text,
                 "{kernel, 1}"));
  CHECK(
      contains(rewrite_cuda("void f() { cudaKernelNodeParams p{reinterpret_cast<void*>(kernel), 1}; }").text,
               "p{(kernel), 1}"));
  CHECK(contains(rewrite_cuda("void f() { cudaKernelNodeParams p = {0}; }").text, "p = {0};"));
  CHECK(contains(rewrite_cuda("void f() { func = (void *)kernel; }").text, "func = (void *)kernel;"));
}

TEST_CASE("inline PTX is C++ where its instructions are known, and refused by name where one is not") {
  const auto asm_of = [](const std::string& statement) {
    return rewrite_cuda("# 1 \"a.cu\"\n__lab_device__ void f(int x, int y, float* p) { " + statement + " }");
  };
  const auto lane = asm_of("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));");
  CHECK(lane.refused.empty());
  CHECK(
      contains(lane.text, "put(lab_operand_0, ::lab::emulator::ptx::as<unsigned>(::lab::emulator::lane()))"));
  CHECK(contains(asm_of("asm(\"\" ::: \"memory\");").text, "((void)0);"));
  for (const std::string known :
       {"add.cc.u32 %0, %0, %1; addc.u32 %0, %0, 0;",
        "{ .reg .pred p; setp.lt.s32 p, %1, 7; @p mov.b32 %0, 3; }", "lop3.b32 %0, %0, %1, %1, 0x96;",
        "mad.wide.u32 %0, %1, %1, %0; // a comment", "bfe.u32 %0, %1, 4, 8;"}) {
    INFO(known);
    CHECK(asm_of("asm(\"" + known + "\" : \"+r\"(x) : \"r\"(y));").refused.empty());
  }
  const auto refused = [&](const std::string& ptx) {
    const auto result = asm_of("asm(\"" + ptx + "\" : \"+r\"(x) : \"r\"(y));");
    return result.refused.empty() ? std::string() : result.refused.front().message;
  };
  CHECK(contains(refused("mov.u32 %0, %1; frobnicate.u32 %0, %1;"), "\"frobnicate.u32 %0, %1\""));
  CHECK(contains(refused("mov.u32 %0, %2;"), "not emulated"));
  CHECK(contains(refused("mov.u32 %0, %%nosuch;"), "not emulated"));
  CHECK(contains(refused("mov.u32 %0, unknown;"), "not emulated"));
  CHECK(contains(refused("add.u32 %0;"), "not emulated"));
  CHECK(contains(refused("mov.u32 , %1;"), "not emulated"));
  CHECK(contains(refused("{ mov.u32 %0, %1;"), "not emulated"));
  CHECK(contains(refused("bra there;"), "not emulated"));
  CHECK(contains(refused("bar.arrive 1;"), "not emulated"));
  CHECK(contains(refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1};"),
                 "matrix instruction"));
  CHECK(contains(refused("wgmma.mma_async.sp.sync.aligned;"), "matrix instruction"));
}

TEST_CASE("code that counts on a warp's lanes going together says so by volatile") {
  const auto text = [](const std::string& body) {
    return rewrite_cuda("__lab_device__ void f(volatile int* s, int* p) { " + body + " }").text;
  };
  const std::string exchange =
      "s[t] += ::lab::emulator::after_lockstep(s[t + 32]), ::lab::emulator::lockstep();";
  CHECK(contains(text("s[t] += s[t + 32];"), exchange));
  // Lanes that have stored may be overtaken by those that read.
  CHECK(contains(text("s[t] = 0; s[t] += s[t + 32];"), "s[t] = ::lab::emulator::after_lockstep(0), "));
  CHECK(contains(text("s[t] = v; v += s[t - 1];"), "after_lockstep(v)"));
  CHECK(contains(text("if (n > 8) s[t] = max(s[t], s[t + 4]);"), "lockstep"));
  CHECK_FALSE(contains(text("s[t] = 3;"), "lockstep"));
  CHECK_FALSE(contains(text("for (; t; s[t] = s[t + 1]) f();"), "lockstep"));
  CHECK_FALSE(contains(text("s[t] = 1; __threadfence(); while (s[t - 1] == 0) ;"), "lockstep"));
  CHECK_FALSE(contains(text("p[t] += p[t + 32];"), "lockstep"));
  // A move within shared memory, whose lanes read before one of them writes.
  CHECK(contains(text("__lab_shared__ int a[32]; a[p[t]] = a[t];"), "after_lockstep("));
  CHECK_FALSE(contains(text("__lab_shared__ int a[32]; a[t] = a[t + 1] + 1;"), "lockstep"));
  CHECK_FALSE(contains(text("p[t] = p[t + 1];"), "lockstep"));
}

TEST_CASE("damaged sources are rewritten or left, and keep their lines") {
  const std::string whole =
      "# 1 \"a.cu\"\ntemplate <class T> __lab_global__ void k(T* a) {\n  extern __lab_shared__ T s[];\n"
      "  __lab_shared__ int t[3];\n  asm(\"mov.u32 %0, %laneid;\" : \"=r\"(t[0]));\n  s[0] = "
      "R\"(x)\"[0];\n}\n"
      "struct A { void f() { k<A<B>><<<dim3(1, 2), 3>>>(a, \"<<<\"); } };\n"
      "void g() { cudaLaunchKernel((void*)k<int>, 1, 2, 0, 0); }\n";
  std::mt19937 random(20260101);
  for (int round = 0; round < 4000; ++round) {
    const std::string text = lab::test::damaged(whole, "<>(){}[];,\"'#\\", random);
    const rewritten_source result = rewrite_cuda(text);
    INFO(text);
    REQUIRE(lines_of(result.text) == lines_of(text));
  }
}

TEST_CASE("a function that gives a number or a pointer ends with a return, and no other one does") {
  const auto ends_with_return = [](const std::string& source) {
    return contains(rewrite_cuda(source).text, "return {};");
  };
  CHECK(ends_with_return("int f(int a) { if (a) return 1; }"));
  CHECK(ends_with_return("static inline unsigned long f() const { g(); }"));
  CHECK(ends_with_return("struct s { float* f() { while (a) { return b; } } };"));
  CHECK(ends_with_return("extern \"C\" cudaError_t f(void (*g)(int)) { g(1); }"));
  for (const char* const other :
       {"void f() { g(); }", "int f() { return 1; }", "int main() { g(); }", "auto f() { g(); }",
        "int& f() { g(); }", "template <class T> T f() { g(); }", "struct s { s(int a) { g(); } };",
        "s::s(int a) : b(a) { g(); }", "int a[] = {1, 2};", "struct s { operator int() { g(); } };",
        "int h() { auto f = [](int a) { g(); }; return 1; }", "big f() { g(); }",
        "int (*f(int a))(double) { g(); }", "enum e : int { one };"}) {
    CAPTURE(other);
    CHECK_FALSE(ends_with_return(other));
  }
}

TEST_CASE("kernels are made known by their addresses where something launches by them") {
  const std::string launch = "cudaError_t g(void* k) { return cudaLaunchKernel(k, 1, 1, nullptr, 0, 0); }\n";
  const std::string kernel = "__lab_global__ void k(int* a) { *a = 1; }\n";
  CHECK(contains(rewrite_cuda(kernel + launch).text, "know_kernel(&k)"));
  CHECK_FALSE(contains(rewrite_cuda(kernel).text, "know_kernel"));
  const std::string bounds = "__attribute__((__lab_launch_bounds__(32 * (4 + 0), 2))) ";
  CHECK(contains(rewrite_cuda(bounds + kernel).text, "::lab::emulator::bound_kernel("));
  CHECK_FALSE(contains(rewrite_cuda(bounds + kernel).text, "__attribute__"));
  CHECK_FALSE(contains(rewrite_cuda("template <class T> " + bounds + kernel).text, "bound"));
  // The name of a template, or of two kernels, is no address.
  CHECK_FALSE(contains(rewrite_cuda("template <class T> " + kernel + launch).text, "know_kernel"));
  CHECK_FALSE(contains(rewrite_cuda(kernel + "__lab_global__ void k(float* a) { *a = 1; }\n" + launch).text,
                       "know_kernel"));
}

namespace {

// What is refused of a program, one after another.
std::string refused_of(const std::string& source) {
  std::string all;
  for (const auto& one : rewrite_cuda(source).refused) all += one.message + "\n";
  return all;
}
const std::string kernel = "__lab_global__ void k(int* a, int i) ";
const std::string both = "__lab_host__ __lab_device__ ";

}  // namespace

TEST_CASE("the host's functions are refused in functions of the device") {
  const auto is_refused = [](const std::string& source, const std::string& name) {
    INFO(source);
    CHECK(contains(refused_of(source), "calling a __host__ function(\"" + name + "\")"));
  };
  is_refused("int w(int i) { return i; }\n" + kernel + "{ a[i] = i * w(i); }", "w");
  is_refused("int w(int i);\n__lab_device__ int d() { return w(1); }\nint w(int i) { return i; }", "w");
  is_refused("namespace n { static inline int w(int i) { return i; } }\n" + kernel + "{ a[i] = n::w(i); }",
             "w");
  is_refused("template <class T> T w(T i) { return i; }\n" + kernel + "{ a[i] = w(i); }", "w");
  is_refused("__lab_host__ int w(int i) { return i; }\n" + kernel + "{ a[i] = w(i); }", "w");
  is_refused(kernel + "{ a[i] = rand() % 3; }", "rand");
  is_refused(kernel + "{ a[i] = std::rand(); }", "rand");
  is_refused(kernel + "{ if (!i) exit(1); }", "exit");
  is_refused("struct s { __lab_device__ int f() { return getpid(); } };", "getpid");
  is_refused("struct s { int w() const { return 1; } };\n" + kernel + "{ s t; a[i] = t.w(); }", "w");
  is_refused("struct s { int w(); };\n__lab_device__ int d(s* t) { return t->w(); }", "w");
  CHECK(contains(refused_of(kernel + "{ std::vector<int> v(3); a[i] = v[0]; }"), "std::vector"));
  for (const std::string& source : std::vector<std::string>{
           both + "int w(int i) { return i; }\n" + kernel + "{ a[i] = w(i); }",
           "__lab_device__ int w(int i) { return i; }\nint w(float f) { return 1; }\n" + kernel +
               "{ a[i] = w(i); }",
           "constexpr int w(int i) { return i; }\n" + kernel + "{ a[i] = w(i); }",
           "int w(int i) { return i; }\n" + kernel + "{ auto w = [](int x) { return x; }; a[i] = w(i); }",
           "int w(int i) { return i; }\ntemplate <class F> __lab_global__ void k(int* a, F w) { a[0] = w(3); "
           "}",
           "int w(int i) { return i; }\n" + both + "int d() { return w(1); }",
           "int w(int i) { return i; }\n" + kernel + "{ a[i] = sizeof(w(i)); }",
           "struct s { int w(); };\n" + kernel + "{ a[i] = 1; }", "int f() { return rand(); }",
           "int w(int i) { return i; }\n" + kernel + "{ other.w(i); }",
           "struct s { int w(); };\nstruct t { " + both + "int w(); };\n" + kernel + "{ t b; a[i] = b.w(); }",
           "struct s { int w(); };\n" + both + "int s::w() { return 1; }\n" + kernel + "{ a[i] = b.w(); }",
           "struct s { constexpr int w() { return 1; } int (*v)(); };\n" + kernel +
               "{ a[i] = b.w() + b.v(); }",
           "__lab_device__ int rand() { return 4; }\n" + kernel + "{ a[i] = rand(); }"}) {
    INFO(source);
    CHECK(refused_of(source).empty());
  }
}

TEST_CASE("the host's variables are refused in functions of the device") {
  const auto is_refused = [](const std::string& source, const std::string& name) {
    INFO(source);
    CHECK(contains(refused_of(source), "identifier \"" + name + "\" is undefined in device code"));
  };
  is_refused("int n = 3;\n" + kernel + "{ a[i] = n; }", "n");
  is_refused("static float t[4];\n" + kernel + "{ a[i] = t[i]; }", "t");
  is_refused("int m, *n;\n" + kernel + "{ a[i] = *n; }", "n");
  is_refused("std::vector<int> n;\n" + kernel + "{ a[i] = n[0]; }", "n");
  is_refused("const int t[] = {1, 2};\n" + kernel + "{ a[i] = t[i]; }", "t");
  is_refused("constexpr int t[2] = {1, 2};\n" + kernel + "{ a[i] = t[i]; }", "t");
  is_refused("struct s { static constexpr int t[2] = {1, 2}; };\n" + kernel + "{ a[i] = s::t[i]; }", "t");
  is_refused("struct s { static int n; };\n" + kernel + "{ a[i] = s::n; }", "n");
  is_refused("int n;\n" + kernel + "{ int m = f(i, n, 3), o; a[i] = m; }", "n");
  is_refused("namespace b { int n; }\n" + kernel + "{ atomicAdd(&b::n, 1); }", "n");
  for (const std::string& source : std::vector<std::string>{
           "__lab_device__ int n;\n" + kernel + "{ a[i] = n; }",
           "__lab_constant__ int n[3];\n" + kernel + "{ a[i] = n[i]; }",
           "__lab_device__ __lab_managed__ int n;\n" + kernel + "{ a[i] = n; }",
           "texture<int, 1> n;\n" + kernel + "{ a[i] = tex1Dfetch(n, 1); }",
           "const int n = 3;\n" + kernel + "{ a[i] = n; }",
           "constexpr int t[2] = {1, 2};\n" + kernel + "{ a[i] = t[1]; }",
           "int n;\n" + kernel + "{ int n = 3; a[i] = n; }",
           "int n;\n" + kernel + "{ int m, n, o; n = 3; a[i] = n; }",
           "int n;\n" + kernel + "{ f(i); const float b{1}, n[4] = {i}, *c; a[i] = n[0]; }",
           "int n;\n__lab_global__ void k(int n) { n = 3; }",
           "int n;\ntemplate <int n> __lab_global__ void k(int* a) { a[0] = n; }",
           "struct __attribute__((aligned(8))) n { int m; };\n" + kernel + "{ n t = n(); a[i] = t.m; }",
           "int n;\nstruct s { int n; };\n" + kernel + "{ s t; a[i] = t.n; }",
           "enum { n, m };\n" + kernel + "{ a[i] = n; }", "int n;\n" + kernel + "{ a[i] = sizeof(n); }",
           "int n;\n" + kernel + "{ for (int j = 0, n = 3; j < n; ++j) a[j] = 1; }",
           "int n;\nvoid f() { int n = 4; g([=] __lab_device__ (int j) { return n * j; }); }",
           "int n;\n" + both + "int d() { return n; }",
           "__lab_device__ constexpr int t[2] = {1, 2};\n" + kernel + "{ a[i] = t[i]; }"}) {
    INFO(source);
    CHECK(refused_of(source).empty());
  }
}

TEST_CASE("a device function is refused where the host calls it, and a host function's address in a launch") {
  const std::string add = "__lab_device__ int add(int a, int b) { return a + b; }\nint sum(int a, int b);\n";
  CHECK(contains(refused_of(add + "int f() { return 1 + add(1, 2); }"),
                 "calling a __device__ function(\"add\") from a __host__ function"));
  for (const char* const argument : {"sum", "&sum", "1, sum, 2"}) {
    CHECK(contains(refused_of(add + "void f() { k<<<g(1), 1>>>(" + argument + "); }"),
                   "the address of the __host__ function sum"));
  }
  for (const std::string& source : std::vector<std::string>{
           "int f() { return sum(1, 2); }", "void f() { k<<<1, 1>>>(sum(1, 2)); g(sum); op p = sum; }",
           both + "int f() { return add(1, 2); }", "__lab_global__ void k(int* a) { *a = add(1, 2); }",
           "int f() { auto add = [](int a, int b) { return a; }; return add(1, 2); }",
           "int f() { return sizeof(add(1, 2)) + other::add(1, 2) + g.add(1, 2); }",
           "int add(float a);\nint f() { return add(1); }",
           "template <class T = int> __lab_device__ T f() { return add(1, 2); }",
           "struct s { int a, b; __lab_device__ s() : a{1}, b(2) { a = add(1, 2); } };",
           "void f() { g([=] __lab_device__ (int j) { return add(j, 1); }); }"}) {
    INFO(source);
    CHECK(refused_of(add + source).empty());
  }
}

TEST_CASE("an address of a device function is refused where the host takes it") {
  const std::string add =
      "__lab_device__ int add(int a, int b) { return a + b; }\ntypedef int (*op)(int, int);\n";
  for (const std::string& source :
       std::vector<std::string>{"void f() { op p = add; }", "void f() { op p = &add; }",
                                "op table[] = {add, add};", "void f() { k<<<1, 1>>>(add); }"}) {
    INFO(source);
    CHECK(contains(refused_of(add + source), "the address of the __device__ function add"));
  }
  for (const std::string& source : std::vector<std::string>{
           "__lab_device__ op p = add;", "__lab_device__ op p[] = {add, add};",
           "void f() { k<add><<<1, 1>>>(); }", "__lab_global__ void k(op* p) { *p = add; }",
           "void f() { int add = 3; g(add); }"}) {
    INFO(source);
    CHECK(refused_of(add + source).empty());
  }
}

TEST_CASE("a symbol is no string") {
  CHECK(contains(refused_of("void f() { cudaMemcpyToSymbol(\"t\", p, 4); }"), "not by its name as a string"));
  CHECK(
      contains(refused_of("void f() { cudaMemcpyFromSymbol(p, \"t\", 4); }"), "not by its name as a string"));
  CHECK(contains(refused_of("void f() { cudaGetSymbolAddress((void**)&p, \"t\"); }"),
                 "not by its name as a string"));
  CHECK(refused_of("void f() { cudaMemcpyToSymbol(t, \"abc\", 4); cudaMemcpyFromSymbol(p, t, 4); }").empty());
}
