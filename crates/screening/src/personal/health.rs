//! Detects that a text is about somebody's health: by words of common conditions and treatments, by the roots and endings
//! that medical Latin and Greek give to the names of conditions in European languages, and by the stems that the World
//! Health Organization gives to the names of substances (INN). It misses what has another form; use it to keep less, not as
//! proof that nothing was kept.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

static WORDS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(\b(?:diagnos\w+|allerg\w*|asthma\w*|diabet\w*|cancer|tumou?r\w*|depress\w+|anxiety|adhd|autis\w+|epil[eé]p\w+|hiv|miscarr\w+|chemo\w*",
        r"|blood pressure|insulin|migraine\w*|pregnan\w+|therapist|psychiatr\w+|antidepressant\w*|medication|surgery|disabilit\w+|mg of \w+",
        r"|krebs|depression\w*|angst\w*störung|schwanger\w*|bluthochdruck|migräne|medikament\w*|operation|behinderung|herzinfarkt|psychotherap\w+",
        r"|alergi\w+|cáncer|embaraz\w+|hipertensión|migraña|depresión|ansiedad|enfermedad|quimio\w*|allergi\w+|cancro|incinta|ipertensione|emicrania",
        r"|grossesse|enceinte|hypertension|dépression|maladie|traitement médical|grávida|câncer|pressão alta|doença|zwanger|kanker|bloeddruk",
        // Addictions.
        r"|alcoholi\w+|alkoholi\w+|alcool[ií]\w+|alcohólic\w+|\p{L}*sucht|sober|nüchtern geblieben|sobri[oa]|\p{L}*verslaving|rehab\w*)\b",
        r"|过敏|糖尿病|抑郁|高血压|怀孕|哮喘|手术|アレルギー|妊娠|喘息|手術|알레르기|당뇨|임신|аллерги|диабет|беременн|депресси|инсульт|инфаркт|астм[аыуо]",
        r"|एलर्जी|मधुमेह|कैंसर|गर्भवती|रक्तचाप|दमा|रोग|hastalı[ğk]|kanser|alerji|hamile|şeker hastası)",
    ))
});

/// Roots of conditions with their endings, as European languages write them: arthritis, Arthrose, sclérose, анемия.
static CONDITIONS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(\b\p{L}*(?:arthr|artr|gastr|nephr|nefr|hepat|épat|bronch|bronqu|dermat|neur|col|cyst|cist|phleb|fleb|sinus|pancreat|encephal|encefal|mening|tendin",
        r"|tonsill|conjunctiv|congiuntiv|prostat|myel|cardi|thyr[eo]o?id)(?:itis|itide|ite|ita|iti|algi\w+|opath\w+|opat[ií]\w+)\b",
        r"|\b(?:multiple )?(?:scl[eé]r|skler|escler|arthr|artr|osteopor|ostéopor|ost[eé]oartr|thromb|tromb|cirr?h|cirr|zirrh|tubercul|tuberkul|endom[eé]tri|fibr|mucoviscid|psych",
        r"|psic|psik|neur|névr|nevr|sk?olios?|scolios?|spondyl|sarc?k?o[ií]d|sten|acid|rosac)(?:osis|ose|osi|oza|ozu|oos|ósis|ose)\b",
        r"|\b(?:an|leuc?k|glyc|glic|hypoglyc|hypoglyk|hyperten|hypertonie|ipoten|septic?|urem)(?:[aä]?emi\w*|émie|ämie|emia|sion)\b|\blupus\b|\bparkinson\b|\balzheimer\b|\bcrohn\b",
        r"|\b(?:c[eo]eliac\w*|cel[ií]a[ck]\w*|zöliakie|coeliakie|ç[öo]lyak|epilept?t?\w+|fibromyalg\w+|fibromialg\w+|hypothyr\w+|ipotiroid\w+|hipotiroid\w+|schizophren\w+|esquizofren\w+|bipolar\w*)\b",
        r"|(?:гепат|артр|гастр|бронх|нефр|панкреат|дермат|цист)ит|(?:артр|невр|склер|туберкул|тромб|псих|цирр)(?:оз|ёз)|эпилепс|шизофрен|гипертон|мигрен|онколог",
        // Diseases of an organ: Chinese, Japanese, Korean.
        r"|(?:[肝肾腎肺胃肠腸鼻咽喉膵骨肌]|(?:^|[^电電])[脑脳])\p{Han}{0,2}[炎病癌症]|\p{Han}{1,4}(?:综合征|症候群|硬化症|衰竭|瘤|癌)|(?:血友|精神|パーキンソン|うつ|心臓|心脏|帕金森|痛风|痛風|白血)病|てんかん|癫痫",
        r"|(?:간|폐|위|장|관절|비|피부|기관지|췌장|방광|결막|신장|뇌|골수)(?:염|암)|\p{Hangul}*(?:변성|경화|섬유|우울|공황|강박|불면|혈우|고혈압|저혈압|하수체)증|암 진단|천식|간질|뇌전증)",
    ))
});

/// Substances by the endings of their international names, as European languages write them.
static SUBSTANCES: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(\b\p{L}{2,}(?:[aeiou]pril|sartan|[aeiou]statina?e?|prazole?|oxetine?a?|traline?a?|citalopram|triptan|[lf]o?dipine?a?|cillina?e?|[ao]mycine?|micina|azepam|azolam",
        r"|gliptine?a?|floxacine?a?|floxacino|tidine?a?|xaban|gatran|tinib|[mtlx][uio]mab|setron|fenac|profène|profen[oe]?|terol|thyroxine?a?|tiroxina|metformin\w*|cortisone?a?)\b",
        r"|\b(?:warfarin\w*|varfarin\w*|heparin\w*|metformin\w*|lithium|litio|paracetamol|ibuprofen\w*|methotrexat\w*|metotrexat\w*|(?:prop|met|aten|bis|carved|neb)\w*olol)\b)",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for words in [&WORDS, &CONDITIONS, &SUBSTANCES] {
        collect(words, Class::Health, text, |_| true, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_substances_are_told_by_their_roots_and_endings() {
        for text in [
            "my arthritis is bad today",
            "j'ai de l'arthrose au genou",
            "meine Osteoporose macht mir Sorgen",
            "tomo omeprazol y enalapril",
            "I'm on lisinopril and atorvastatin",
            "ho la celiachia, sono celiaca",
            "у меня артроз колена",
            "我得了肺炎",
            "父は肝硬変から肝癌になった",
            "관절염 때문에 못 뛰어요",
            "prendo la levotiroxina la mattina",
        ] {
            assert!(!find(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn other_words_with_such_endings_are_no_matter_of_health() {
        for text in [
            "das ist kostenlos und die Rose ist groß",
            "On propose une pause à Rose",
            "osmosis and symbiosis are on the exam in April",
            "天气炎热，我的电脑病毒很多",
            "운전면허 자격증이 있어요",
            "мороз и солнце, еду в колхоз",
            "quiero servir y vivir aquí",
            "I like prose, and my academia is in Bohemia",
            "we sell a vitamin shampoo",
        ] {
            assert!(find(text).is_empty(), "{text} {:?}", find(text));
        }
    }
}
