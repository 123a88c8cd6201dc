#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/runtime/sim/fuzz/mutate.h"

namespace onepass::sim {
namespace {

using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

size_t Anywhere(const Lines& lines, Random& random) { return random.Below(lines.size()); }

// A place for a new line: mostly one between two instructions.
size_t Between(const Lines& lines, Random& random) {
  const size_t body = std::find(lines.begin(), lines.end(), "{") - lines.begin() + 1;
  size_t at = Anywhere(lines, random);
  if (random.Below(16) == 0) return at;
  const auto ends = [&](const std::string& line) {
    return !line.empty() && std::string_view(";:{}").find(line.back()) != std::string_view::npos;
  };
  for (int tries = 0; tries < 16 && (at < body || !ends(lines[at - 1])); ++tries) {
    at = Anywhere(lines, random);
  }
  return at;
}

// Applies `change` to the lines of the text.
template <class Change>
void ChangeLines(const Mutable& in, Change change) {
  Lines lines = LinesOf(in.text);
  change(lines);
  in.text = absl::StrJoin(lines, "\n");
}

void DeleteLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) { lines.erase(lines.begin() + Anywhere(lines, in.random)); });
}

void RepeatLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t at = Anywhere(lines, in.random);
    const std::string line = lines[at];
    lines.insert(lines.begin() + at, in.random.Below(8) == 0 ? in.random.Below(300) : 1, line);
  });
}

void SwapLines(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    std::swap(lines[Anywhere(lines, in.random)], lines[Anywhere(lines, in.random)]);
  });
}

void MoveLines(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t from = Anywhere(lines, in.random);
    const size_t count = std::min(in.random.Below(20) + 1, lines.size() - from);
    const Lines moved(lines.begin() + from, lines.begin() + from + count);
    lines.erase(lines.begin() + from, lines.begin() + from + count);
    lines.insert(lines.begin() + (lines.empty() ? 0 : Between(lines, in.random)), moved.begin(),
                 moved.end());
  });
}

void TakeLines(const Mutable& in) {
  const Lines others = LinesOf(in.Other());
  ChangeLines(in, [&](Lines& lines) {
    const size_t from = Anywhere(others, in.random);
    const size_t count = std::min(in.random.Below(8) + 1, others.size() - from);
    lines.insert(lines.begin() + Between(lines, in.random), others.begin() + from,
                 others.begin() + from + count);
  });
}

// A label of the text, or one that is not there.
std::string AnyLabel(const Lines& lines, Random& random) {
  const size_t first = Anywhere(lines, random);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line(absl::StripAsciiWhitespace(lines[(first + i) % lines.size()]));
    if (line.ends_with(':')) return line.substr(0, line.size() - 1);
  }
  return "$L__none";
}

void InsertBranch(const Mutable& in) {
  constexpr const char* kGuards[] = {"", "@%p1 ", "@!%p1 ", "@%p2 "};
  ChangeLines(in, [&](Lines& lines) {
    const std::string label = AnyLabel(lines, in.random);
    lines.insert(lines.begin() + Between(lines, in.random),
                 absl::StrCat(kGuards[in.random.Below(4)], "bra ", label, ";"));
  });
}

void LoopHere(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t at = Between(lines, in.random);
    const std::string label = absl::StrCat("$loop", in.random.Below(1000));
    const size_t end = std::min(at + in.random.Below(6), lines.size());
    lines.insert(lines.begin() + end, absl::StrCat("bra ", label, ";"));
    lines.insert(lines.begin() + at, label + ":");
  });
}

// N is a number, S one of four sizes, L a label, %r1 and others may be there.
constexpr const char* kLines[] = {
    ".reg .b32 %huge<N>;",
    ".reg .v4 .b64 %wide<N>;",
    ".reg .pred %p<N>;",
    ".reg .b128 %q;",
    ".shared .align S .b8 shared_N[N];",
    ".shared .align N .b8 s[4];",
    ".extern .shared .align N .b8 dynamic[];",
    ".local .align S .b8 local_N[N];",
    ".local .v4 .b32 local_v[N][N];",
    ".global .align S .b8 global_N[N];",
    ".global .b64 pointers[2] = {generic(pointers)+N, N};",
    ".const .b32 table[N] = {N, N, N};",
    ".param .align S .b8 param_N[N];",
    ".maxntid N, N, N",
    ".reqntid N, S",
    ".reqnctapercluster N, S, S",
    ".version N.N",
    ".target sm_N",
    ".address_size N",
    ".loc N N N",
    ".file N \"a.cu\"",
    ".func (.param .b32 result) callee(.param .b32 a, .param .b64 b)",
    ".visible .entry another(.param .u64 a, .param .b8 b[N])",
    ".visible .entry another(.param .align N .b8 b[S]) { ret; }",
    ".func again() { call again, (); ret; } .entry calls() { call again, (); ret; }",
    "targets: .branchtargets L, L, L; brx.idx %r1, targets;",
    "call.uni (%r1), callee, (%r2, %rd1);",
    "call %rd1, (), proto; proto: .callprototype _ ();",
    "bar.sync N;",
    "barrier.sync %r1, %r2;",
    "bar.red.popc.u32 %r1, N, S, %p1;",
    "barrier.cluster.arrive; barrier.cluster.wait;",
    "mapa.shared::cluster.u32 %r1, %r2, N;",
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [N];",
    "ld.local.u64 %rd1, [N];",
    "ld.param.u64 %rd1, [N];",
    "st.global.u32 [%rd1+N], N;",
    "atom.global.cas.b32 %r1, [%rd1], N, N;",
    "shfl.sync.idx.b32 %r1|%p1, %r2, N, S, N;",
    "vote.sync.ballot.b32 %r1, %p1, N;",
    "match.any.sync.b64 %r1, %rd1, N;",
    "redux.sync.add.s32 %r1, %r2, N;",
    "elect.sync _|%p1, N;",
    "cp.async.ca.shared.global [%r1], [%rd1], S, N;",
    "cp.async.wait_group N;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [N], [%rd1], N, [S];",
    "mbarrier.init.shared.b64 [N], N;",
    "mbarrier.try_wait.parity.shared.b64 %p1, [N], N;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r1];",
    "shf.l.clamp.b32 %r1, %r2, %r3, N;",
    "bfe.s32 %r1, %r2, N, N;",
    "bfi.b64 %rd1, %rd2, %rd3, N, N;",
    "div.s32 %r1, %r2, N;",
    "rem.s64 %rd1, %rd2, N;",
    "prmt.b32 %r1, %r2, %r3, N;",
    "nanosleep.u32 N;",
    "trap;",
    "exit;",
    "setmaxnreg.inc.sync.aligned.u32 N;",
    "createpolicy.fractional.L2::evict_last.b64 %rd1, N;",
    "{",
    "}",
};

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "2",
                                    "3",
                                    "31",
                                    "32",
                                    "33",
                                    "63",
                                    "64",
                                    "1000",
                                    "1024",
                                    "65536",
                                    "4194304",
                                    "-1",
                                    "-2147483648",
                                    "2147483647",
                                    "4294967295",
                                    "4294967296",
                                    "1000000000",
                                    "90",
                                    "0xffffffff",
                                    "-4",
                                    "16777216",
                                    "9223372036854775807",
                                    "1099511627776",
                                    "2.5"};
constexpr const char* kSizes[] = {"1", "4", "8", "16"};

// A row of kLines with something for every N, S and L that stands alone.
std::string AnyLine(const std::string& label, Random& random) {
  const std::string row = kLines[random.Below(std::size(kLines))];
  const auto part_of_word = [&](size_t at) {
    return at < row.size() && absl::ascii_isalnum(static_cast<unsigned char>(row[at]));
  };
  std::string line;
  for (size_t at = 0; at < row.size(); ++at) {
    const bool alone = !part_of_word(at - 1) && !part_of_word(at + 1);
    if (alone && row[at] == 'N') {
      line += kNumbers[random.Below(std::size(kNumbers))];
    } else if (alone && row[at] == 'S') {
      line += kSizes[random.Below(std::size(kSizes))];
    } else if (alone && row[at] == 'L') {
      line += label;
    } else {
      line += row[at];
    }
  }
  return line;
}

void InsertLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const std::string line = AnyLine(AnyLabel(lines, in.random), in.random);
    lines.insert(lines.begin() + Between(lines, in.random), line);
  });
}

constexpr Mutation kMutations[] = {DeleteLine, RepeatLine,   SwapLines, MoveLines,
                                   TakeLines,  InsertBranch, LoopHere,  InsertLine,
                                   InsertLine, TakeLines,    InsertLine};

}  // namespace

std::span<const Mutation> LineMutations() { return kMutations; }

}  // namespace onepass::sim
