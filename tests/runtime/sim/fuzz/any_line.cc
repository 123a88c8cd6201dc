#include "tests/runtime/sim/fuzz/any_line.h"

#include <iterator>

#include "absl/strings/ascii.h"

namespace onepass::sim {
namespace {

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

}  // namespace

// Something stands for every N, S and L that stands alone.
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

}  // namespace onepass::sim
