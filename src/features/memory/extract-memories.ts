import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { Answer } from "../../session/answer.js";
export async function extractMemories(_r: Request, _i: InputOf<"memory.extract">): Promise<Answer<ResponseOf<"memory.extract">>> { throw new Error("x"); }
