"""Tokens of services, by the prefixes and lengths that their makers publish so that scanners can find them.

Where a maker publishes no shape the token is found only beside a name, by `assigned`.
"""

from __future__ import annotations

from clew.ingest.firewall.secrets.rule import Rule, token

CLOUDS: tuple[Rule, ...] = (
    token("aws_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    token("google_key", r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    token("google_oauth", r"GOCSPX-[0-9A-Za-z_-]{28}|ya29\.[0-9A-Za-z_-]{20,}+", "GOCSPX-", "ya29."),
    token("azure_key", r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,90}+={0,2}+", "AccountKey=", "SharedAccessKey="),
    token("digitalocean_token", r"do[oprt]_v1_[a-f0-9]{64}", "_v1_"),
    token("databricks_token", r"dapi[a-f0-9]{32}(?:-\d)?", "dapi"),
    token("vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}+", "hvs.", "hvb.", "hvr."),
    token("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+", ".atlasv1."),
    token("alibaba_key", r"LTAI[A-Za-z0-9]{17,21}+", "LTAI"),
)
CODE: tuple[Rule, ...] = (
    token(
        "github_token",
        r"gh[opusr]_[A-Za-z0-9]{36,251}+|github_pat_[A-Za-z0-9_]{22,255}+",
        "gho_",
        "ghp_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    token(
        "gitlab_token",
        r"gl(?:pat|dt|rt|ptt|ft|agent|oas|cbt)-[A-Za-z0-9_.-]{20,}+",
        "glpat-",
        "gldt-",
        "glrt-",
        "glptt-",
        "glft-",
        "glagent-",
        "gloas-",
        "glcbt-",
    ),
    token("npm_token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    token("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}+", "pypi-"),
    token("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}+", "dckr_"),
    token("rubygems_key", r"rubygems_[a-f0-9]{48}", "rubygems_"),
    token("atlassian_token", r"ATATT3[A-Za-z0-9_=-]{50,}+", "ATATT3"),
    token("linear_key", r"lin_api_[A-Za-z0-9]{32,}+", "lin_api_"),
    token("postman_key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", "PMAK-"),
    token("grafana_token", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,}+", "glsa_", "glc_"),
    token("figma_token", r"figd_[A-Za-z0-9_-]{32,}+", "figd_"),
    token("sentry_token", r"sntr(?:ys|yu)_[A-Za-z0-9_=+/-]{40,}+", "sntrys_", "sntryu_"),
)
MODELS: tuple[Rule, ...] = (
    token("anthropic_key", r"sk-ant-[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,}+", "sk-ant-"),
    token("openrouter_key", r"sk-or-(?:v1-)?[a-f0-9]{32,}+", "sk-or-"),
    token("openai_key", r"sk-(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]*+\d)[A-Za-z0-9_-]{20,}+", "sk-"),
    token("huggingface_token", r"hf_[A-Za-z0-9]{30,}+", "hf_"),
    token("groq_key", r"gsk_[A-Za-z0-9]{40,}+", "gsk_"),
    token("xai_key", r"xai-[A-Za-z0-9]{60,}+", "xai-"),
    token("replicate_token", r"r8_[A-Za-z0-9]{37}", "r8_"),
    token("perplexity_key", r"pplx-[A-Za-z0-9]{40,}+", "pplx-"),
)
MESSAGES: tuple[Rule, ...] = (
    token("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-\d-[A-Za-z0-9-]{20,}+", "xox", "xapp-"),
    token("slack_webhook", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}+", "hooks.slack.com/"),
    token("discord_webhook", r"https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d{15,20}/[A-Za-z0-9_-]{50,}+", "/api/webhooks/"),
    token("discord_token", r"[MNO][A-Za-z0-9_-]{23,27}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+", "iscord", "DISCORD"),
    token("telegram_token", r"\d{8,10}:AA[A-Za-z0-9_-]{33}", ":AA"),
    token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", "SG."),
    token("mailgun_key", r"key-[a-f0-9]{32}", "key-"),
    token("mailchimp_key", r"[a-f0-9]{32}-us\d{1,2}", "-us"),
    token("twilio_key", r"SK[a-f0-9]{32}", "SK"),
)
MONEY: tuple[Rule, ...] = (
    token("stripe_key", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9]{24,}+", "_live_", "_test_", "whsec_"),
    token("square_token", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}+|EAAA[A-Za-z0-9_-]{60}", "sq0", "EAAA"),
    token("shopify_token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "shp"),
)
OTHERS: tuple[Rule, ...] = (
    token("mapbox_token", r"sk\.eyJ[A-Za-z0-9_-]{40,}+\.[A-Za-z0-9_-]{16,}+", "sk.eyJ"),
    token("wallet_key", r"[xyz]prv[A-Za-z0-9]{80,120}+", "prv"),
    token(
        "service_token",
        r"(?:nfp_|ntn_|sbp_|pscale_(?:tkn|pw|oauth)_|dp\.(?:pt|st|sa|ct|scim|audit)\.|pul-|CCIPAT_|CCIPRJ_|tskey-[a-z]{2,12}-|NRAK-|NRII-|"
        r"sq[apu]_|bkua_|rnd_|lsv2_[ps][tk]_|fo1_|phx_|ops_eyJ|dt0[cs]01\.|shippo_live_|sl\.|1//0|EAA)[A-Za-z0-9_.-]{20,}+",
        *("nfp_", "ntn_", "sbp_", "pscale_", "dp.", "pul-", "CCIP", "tskey-", "NRAK-", "NRII-", "sqa_", "sqp_", "squ_", "bkua_", "rnd_"),
        *("lsv2_", "fo1_", "phx_", "ops_eyJ", "dt0", "shippo_live_", "sl.", "1//0", "EAA"),
    ),
)
SERVICES = (*CLOUDS, *CODE, *MODELS, *MESSAGES, *MONEY, *OTHERS)
