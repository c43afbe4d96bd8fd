"""The same orders in scripts that write no spaces: a command begins there wherever its words do."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import marker

UNSPACED = (
    marker(
        "override",
        ["忽略|无视|忘记|不要理会|無視|忘れ"],
        r"(?:忽略|无视|忘记|不要理会)[^。\n]{0,12}(?:指令|指示|规则|提示)",
        r"(?:指示|命令|ルール)を[^。\n]{0,6}(?:無視|忘れ)",
    ),
    marker(
        "persona",
        ["你是|你就是|你将|あなたは"],
        r"(?:从现在开始|从现在起|现在),?你(?:是|就是|将)[^。\n]{0,16}(?:助手|模型|机器人|管理员)",
        r"(?:これから|今から)、?あなたは[^。\n]{0,16}(?:アシスタント|モデル|管理者|ボット)",
    ),
    marker(
        "concealment",
        ["用户|ユーザー"],
        r"(?:不要|别|不得)(?:告诉|告知|让)[^。\n]{0,6}用户",
        r"ユーザーに(?:は)?[^。\n]{0,12}(?:言わないで|知らせないで|伝えないで)",
    ),
    marker("prompt_leak", ["提示|隐藏"], r"(?:输出|显示|告诉我|打印)[^。\n]{0,8}(?:系统提示|提示词|隐藏的?指令)"),
    marker("addressed", ["如果你是"], r"如果你是[^。\n]{0,6}(?:人工智能|语言模型|ai)"),
)
