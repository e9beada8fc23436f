"""Stop words of the languages for which tantivy has a stemmer but no list."""

# ruff: noqa: RUF001 - Greek and Turkish letters that look like Latin ones

from __future__ import annotations

# fmt: off
STOP_WORDS = {
    "en": """
        a about am an and any are as at be been being but by can could did do does doing for from had has have having he
        her him his how i if in into is it its just me my no not of on or our shall she should so some such than that
        the their them then there these they this those to too us very was we were what when where which while who whom
        whose why will with would you your
    """,
    "ro": """
        a ai al ale am ar are as asta au avea ca care ce cel cea cei cele că cu cum când de deci despre din dintre după
        e ea ei el ele era este eu fi fie fost fără iar in la le lor lui mai mea meu mi ne nici noi nu o or ori pe
        pentru prin s sa sau se si sunt suntem să tu un una unde unei unui vă voi vor și ăsta ţi îi îl îmi în între își
    """,
    "tr": """
        acaba ama ancak bazı ben beni benim bir biri biz bize bizim bu buna bunda bunu bunun burada da daha de değil
        diye en gibi hem hep her hiç için ile ise kadar ki kim mi mu mü mı nasıl ne neden o olan olarak oldu olduğu on
        ona onlar onu onun sen seni siz sizin şey şu şunu şunun ve veya ya yani çok çünkü
    """,
    "ar": """
        في من على إلى عن مع هذا هذه ذلك تلك هو هي هم هن أنا أنت نحن كان كانت يكون تكون قد لقد لا لم لن ما ماذا متى أين
        كيف لماذا هل إن أن أو أم ثم بل لكن حتى إذا لو كل بعض غير بين بعد قبل عند منذ الذي التي الذين و يا كما لأن فقط
        ليس أي أيضا به بها له لها فيه فيها منه منها عليه عليها إليه إليها
    """,
    "el": """
        ο η το οι τα του της των τον την τους τις ένα ένας μια μία ενός και ή να θα δεν μη μην με σε στο στη στην στον
        στους στις στα για από ως προς κατά μετά χωρίς αν ότι που πως τι πώς ποιος ποια ποιο αυτό αυτή αυτός αυτά αυτές
        αυτοί είναι ήταν είμαι είσαι έχει έχουν είχε εγώ εσύ εμείς εσείς μου σου μας σας αλλά όμως όταν όπως όσο πιο
        πολύ τη τότε εδώ εκεί
    """,
    "ta": """
        ஒரு அந்த இந்த அது இது எந்த என்று என என்ற அவர் அவள் அவன் அவர்கள் நான் நாம் நாங்கள் நீ நீங்கள் மற்றும் அல்லது
        ஆனால் உள்ள உள்ளது இருந்து இருக்கும் இல்லை ஆகும் மேலும் பின்னர் போது வரை மூலம் கொண்ட கொண்டு தான் ஆக
    """,
}
# fmt: on

# tantivy has only 33 English stop words. These words are searched like any other, but are never taken for a typo.
# Words of up to three letters are never corrected.
COMMON_ENGLISH = """
    about above across actually after again against almost alone along already also although always among another anyone
    anything around away back because become been before behind being below best better between beyond both cannot cause
    come could didn does doesn doing done down during each either else enough even ever every everyone everything except
    find first from further gets give given goes going good hadn hasn have haven having help hence here hers herself
    himself however inside instead into isn itself just keep keeps kind know known last later least less like likely
    little long look made make makes making many maybe mean means might mine more most much must myself near need needs
    neither never next none nothing often once only onto other others ought ours ourselves over perhaps please possible
    quite rather really said same shall should show shows simply since some somebody someone something sometimes soon
    still such sure take takes than that their theirs them themselves then there therefore these they thing things think
    this those though through thus together toward towards under unless unlike until upon used useful uses using
    usually very want wants wasn well went were weren what whatever when whenever where whereas wherever whether which
    while whole whom whose will with within without work works would wouldn your yours yourself yourselves
"""
