// How to embed Onepass: link libonepass.so, include one header. The README shows this program.
#include <cstdio>
#include <vector>

#include "onepass/onepass.hpp"

int main() try {
  onepass::Engine engine("sim:h200");  // or "cuda:0"
  onepass::Problem problem("batch_norm.infer f32 2x2x1x2 eps=0 act=relu");

  std::vector<onepass::Buffer> memory;
  std::vector<std::uint64_t> addresses;
  for (const onepass_tensor& tensor : problem.tensors()) {
    memory.push_back(engine.Allocate(tensor.bytes));
    addresses.push_back(memory.back().address());
  }
  memory[problem.Find("x")].CopyIn(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}.data());
  memory[problem.Find("scale")].CopyIn(std::vector<float>{1, 2}.data());
  memory[problem.Find("bias")].CopyIn(std::vector<float>{0, 0}.data());
  memory[problem.Find("mean")].CopyIn(std::vector<float>{3, 5}.data());
  memory[problem.Find("var")].CopyIn(std::vector<float>{4, 1}.data());

  onepass::Buffer workspace = engine.Allocate(engine.Prepare(problem));
  engine.Run(problem, {addresses, &workspace});
  engine.Synchronize();

  std::vector<float> y(8);
  memory[problem.Find("y")].CopyOut(y.data());
  for (float value : y) std::printf("%g ", value);  // 0 0 0 0 1 1.5 4 6
  std::puts("");
} catch (const onepass::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.status();
}
