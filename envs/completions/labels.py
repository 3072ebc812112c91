"""Labels before a thought, an action, its input, an observation or an answer, in several languages.

English, German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese and Korean. Each constant is a piece
of a regular expression, to be used with `re.IGNORECASE`.
"""

from __future__ import annotations

THOUGHT = (
    r"think|thoughts?|thinking|reasoning|reason|plan(?:ning)?|analysis|reflection|rationale"
    r"|gedanken?|(?:ü|Ü|ue)berlegung(?:en)?|begr(?:ü|ue)ndung|pens(?:é|e)es?|r(?:é|e)flexion|raisonnement"
    r"|pensamientos?|razonamiento|reflexi(?:ó|o)n|pensiero|ragionamento|pensamento|racioc(?:í|i)nio|мысль|рассуждение"
    r"|思考|思路|想法|推理|分析|理由|考え|思索|思考过程|생각|추론"
)
ACTION = (
    r"(?:(?:my|the|your|our) )?(?:next |chosen |selected |final |best |proposed )?(?:actions?|act|command|move)"
    r"|(?:n(?:ä|ae)chste )?(?:aktion|handlung|befehl|aktionsschritt)|(?:prochaine )?(?:commande|action)"
    r"|(?:siguiente |pr(?:ó|o)xima )?acci(?:ó|o)n|comando|orden|azione|a(?:ç|c)(?:ã|a)o|действие|команда"
    r"|(?:下一步)?(?:行动|行動|动作|動作|操作|命令|指令|执行)|次の行動|アクション|コマンド|행동|동작|명령"
)
INPUT = (
    r"(?:action|tool|function)[ _]?(?:input|arguments?|args|parameters?)|arguments?|parameters?"
    r"|(?:aktions)?eingabe|aktions-eingabe|eingabe der aktion|entr(?:é|e)e(?: de l['’]action)?"
    r"|entrada(?: de (?:la )?(?:acci(?:ó|o)n)| da a(?:ç|c)(?:ã|a)o)?|input dell['’]azione|ввод(?: действия)?"
    r"|(?:行动|行動|动作|動作|操作)(?:の)?(?:输入|輸入|入力|参数)|アクション(?:の)?入力|输入|入力|参数|행동 ?입력"
)
OBSERVATION = (
    r"observations?|obs|beobachtung(?:en)?|observaci(?:ó|o)n(?:es)?|osservazione|observa(?:ç|c)(?:ã|a)o|наблюдение"
    r"|观察(?:结果)?|觀察(?:結果)?|观测|観察(?:結果)?|観測|관찰"
)
ANSWER = (
    r"(?:(?:my|the) )?(?:final )?answer|(?:endg(?:ü|ue)ltige |finale )?antwort|r(?:é|e)ponse(?: finale)?"
    r"|respuesta(?: final)?|risposta(?: finale)?|resposta(?: final)?|(?:окончательный )?ответ"
    r"|(?:最终|最終|最后)?(?:的な|的)?(?:答案|回答|答复|答え)|(?:최종 )?(?:답변|정답|답)"
)
COLON = r"[:：﹕∶]"
"""What stands behind a label."""
ARROW = r"(?:[→⇒➔➜—–>]|[-=]{1,2}>?)"
"""What stands behind a label in place of a colon."""
